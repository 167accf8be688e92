//! Which objects of each kind an explanation needs.

use kube_endpoint_model::well_known::SERVICE_NAME_LABEL;

use crate::args::{Kind, Target};

/// Objects of one kind to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Select {
    #[default]
    Nothing,
    Name(String),
    /// The objects that a label selector selects.
    Labels(String),
    All,
}

impl Select {
    /// Extends the selection by another one: to all objects, if both select different ones.
    fn extend(&mut self, other: Select) {
        if *self == Select::Nothing {
            *self = other;
        } else if other != Select::Nothing && *self != other {
            *self = Select::All;
        }
    }

    pub(crate) fn label_selector(&self) -> Option<String> {
        match self {
            Select::Labels(selector) => Some(selector.clone()),
            Select::Nothing | Select::Name(_) | Select::All => None,
        }
    }

    pub(crate) fn field_selector(&self) -> Option<String> {
        match self {
            Select::Name(name) => Some(format!("metadata.name={name}")),
            Select::Nothing | Select::Labels(_) | Select::All => None,
        }
    }
}

/// Objects that an explanation needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) services: Select,
    pub(crate) pods: Select,
    pub(crate) nodes: Select,
    /// `EndpointSlices`.
    pub(crate) slices: Select,
    pub(crate) endpoints: Select,
    /// Whether the last writes of slices and Endpoints are needed. They are then read as complete objects in JSON.
    pub(crate) last_writes: bool,
}

impl Needs {
    /// Returns everything, without last writes.
    pub(crate) fn everything() -> Needs {
        let [services, pods, nodes, slices, endpoints] = [(); 5].map(|()| Select::All);
        Needs { services, pods, nodes, slices, endpoints, last_writes: false }
    }

    /// Returns what the explanation of a Service needs: also the other Services, whose selectors can be similar, and
    /// all Pods, whose labels can be.
    fn of_service(name: &str) -> Needs {
        Needs {
            services: Select::All,
            pods: Select::All,
            nodes: Select::All,
            slices: Select::Labels(format!("{SERVICE_NAME_LABEL}={name}")),
            endpoints: Select::Name(name.to_owned()),
            last_writes: true,
        }
    }

    /// Returns what the explanation of an object needs. `hint` is the name of the Node of a Pod, or of the Service of a
    /// slice, if it has one.
    pub(crate) fn of(target: &Target, hint: Option<&str>) -> Needs {
        let name = target.name.as_str();
        match target.kind {
            Kind::Service | Kind::Endpoints => Needs::of_service(name),
            Kind::Pod => Needs {
                services: Select::All,
                pods: Select::Name(name.to_owned()),
                // A Pod that is not scheduled yet can get any Node.
                nodes: hint.map_or(Select::All, |node| Select::Name(node.to_owned())),
                // Which Services select the Pod is known only once they are read, and can change during a watch.
                slices: Select::All,
                ..Needs::default()
            },
            Kind::EndpointSlice => match hint {
                Some(service) => Needs::of_service(service),
                None => Needs { slices: Select::Name(name.to_owned()), last_writes: true, ..Needs::default() },
            },
        }
    }

    /// Extends this by the needs of another explanation.
    pub(crate) fn extend(&mut self, other: Needs) {
        let Needs { services, pods, nodes, slices, endpoints, last_writes } = other;
        self.services.extend(services);
        self.pods.extend(pods);
        self.nodes.extend(nodes);
        self.slices.extend(slices);
        self.endpoints.extend(endpoints);
        self.last_writes |= last_writes;
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn target(kind: Kind, name: &str) -> Target {
        Target { kind, name: name.to_owned() }
    }

    fn show(select: &Select) -> String {
        match select {
            Select::Nothing => "-".to_owned(),
            Select::All => "*".to_owned(),
            other => other.label_selector().or_else(|| other.field_selector()).unwrap(),
        }
    }

    #[rstest]
    #[case::service(&[(Kind::Service, "web", None)], "* * * kubernetes.io/service-name=web metadata.name=web")]
    #[case::endpoints(&[(Kind::Endpoints, "web", None)], "* * * kubernetes.io/service-name=web metadata.name=web")]
    #[case::pod(&[(Kind::Pod, "web-0", Some("n1"))], "* metadata.name=web-0 metadata.name=n1 * -")]
    #[case::pending_pod(&[(Kind::Pod, "web-0", None)], "* metadata.name=web-0 * * -")]
    #[case::slice(
        &[(Kind::EndpointSlice, "web-x", Some("web"))],
        "* * * kubernetes.io/service-name=web metadata.name=web"
    )]
    #[case::slice_of_no_service(&[(Kind::EndpointSlice, "x", None)], "- - - metadata.name=x -")]
    #[case::two_services(&[(Kind::Service, "web", None), (Kind::Service, "api", None)], "* * * * *")]
    #[case::service_twice(
        &[(Kind::Service, "web", None), (Kind::EndpointSlice, "web-x", Some("web"))],
        "* * * kubernetes.io/service-name=web metadata.name=web"
    )]
    #[case::two_pods(&[(Kind::Pod, "a", Some("n1")), (Kind::Pod, "b", Some("n1"))], "* * metadata.name=n1 * -")]
    fn needs_of_targets(#[case] targets: &[(Kind, &str, Option<&str>)], #[case] expect: &str) {
        let mut needs = Needs::default();
        for (kind, name, hint) in targets {
            needs.extend(Needs::of(&target(*kind, name), *hint));
        }
        let Needs { services, pods, nodes, slices, endpoints, last_writes: _ } = &needs;
        assert_eq!([services, pods, nodes, slices, endpoints].map(show).join(" "), expect);
    }
}
