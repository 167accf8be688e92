//! Restriction of results to the Services that `--selector` selects.

use std::{collections::HashSet, sync::Arc};

use kube_endpoint_model::{ObjectKey, Service, well_known::SERVICE_NAME_LABEL};
use kube_endpoints_explain::{Change, Finding, Kind, ObjectRef};
use kube_wire::Object as _;

use crate::fetch::{Objects, find};

#[derive(Debug)]
pub(crate) struct Selection {
    services: Vec<Arc<Service>>,
    keys: HashSet<ObjectKey>,
}

impl Selection {
    pub(crate) fn new(services: Vec<Arc<Service>>) -> Selection {
        let keys = services.iter().map(|service| service.key()).collect();
        Selection { services, keys }
    }

    /// Returns whether a finding is about a selected Service, or about a Pod, slice or Endpoints object of one.
    pub(crate) fn has_finding(&self, finding: &Finding, objects: &Objects) -> bool {
        let object = &finding.object;
        match object.kind {
            Kind::Service | Kind::Endpoints => self.has_service(&object.namespace, &object.name),
            Kind::Pod => find(&objects.pods, &key(object)).is_some_and(|pod| {
                let mut services = self.services.iter().filter(|service| service.namespace == pod.namespace);
                services.any(|service| service.selector.as_ref().is_some_and(|it| pod.labels.contains_all(it)))
            }),
            Kind::EndpointSlice => find(&objects.slices, &key(object))
                .and_then(|slice| slice.service_name())
                .is_some_and(|service| self.has_service(&object.namespace, service)),
            Kind::Node => false,
        }
    }

    /// Returns whether a change is that of an object of a selected Service.
    pub(crate) fn has_change(&self, change: &Change) -> bool {
        let object = &change.object;
        match object.kind {
            Kind::Endpoints => self.has_service(&object.namespace, &object.name),
            _ => [&change.before, &change.after].into_iter().flatten().any(|value| {
                let service = value["metadata"]["labels"][SERVICE_NAME_LABEL].as_str();
                service.is_some_and(|service| self.has_service(&object.namespace, service))
            }),
        }
    }

    fn has_service(&self, namespace: &str, name: &str) -> bool {
        self.keys.contains(&ObjectKey::new(namespace, name))
    }
}

fn key(object: &ObjectRef) -> ObjectKey {
    ObjectKey::new(object.namespace.as_str(), object.name.as_str())
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::{Code, EndpointSlice, Labels, Pod};
    use kube_endpoints_explain::{DifferenceClass, Reason, Severity};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn selection() -> Selection {
        let selector = Some(Labels::from_iter([("app", "web")]));
        let service = Service { namespace: "shop".into(), name: "web".into(), selector, ..Service::default() };
        Selection::new(vec![Arc::new(service)])
    }

    fn objects() -> Objects {
        let pod = |name: &str, app: &str| {
            let labels = Labels::from_iter([("app", app)]);
            Arc::new(Pod { namespace: "shop".into(), name: name.into(), labels, ..Pod::default() })
        };
        let slice = |name: &str, service: &str| {
            let mut slice = EndpointSlice::default();
            slice.metadata.namespace = "shop".into();
            slice.metadata.name = name.into();
            slice.metadata.labels = Labels::from_iter([(SERVICE_NAME_LABEL, service)]);
            Arc::new(slice)
        };
        let pods = vec![pod("web-0", "web"), pod("api-0", "api")];
        Objects { pods, slices: vec![slice("web-x", "web"), slice("api-x", "api")], ..Objects::default() }
    }

    fn object(kind: Kind, namespace: &str, name: &str) -> ObjectRef {
        ObjectRef { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    #[rstest]
    #[case::service(Kind::Service, "shop", "web", true)]
    #[case::other_service(Kind::Service, "shop", "api", false)]
    #[case::other_namespace(Kind::Service, "test", "web", false)]
    #[case::endpoints(Kind::Endpoints, "shop", "web", true)]
    #[case::slice(Kind::EndpointSlice, "shop", "web-x", true)]
    #[case::other_slice(Kind::EndpointSlice, "shop", "api-x", false)]
    #[case::pod(Kind::Pod, "shop", "web-0", true)]
    #[case::other_pod(Kind::Pod, "shop", "api-0", false)]
    #[case::unknown_pod(Kind::Pod, "shop", "gone", false)]
    fn findings_of_the_selected_services(
        #[case] kind: Kind,
        #[case] namespace: &str,
        #[case] name: &str,
        #[case] expect: bool,
    ) {
        let reason = Reason { code: Code::NoPodSelected, message: "no Pod".to_owned() };
        let finding = Finding { object: object(kind, namespace, name), severity: Severity::Warning, reason };
        assert_eq!(selection().has_finding(&finding, &objects()), expect);
    }

    #[rstest]
    #[case::created(None, Some("web"), true)]
    #[case::deleted(Some("web"), None, true)]
    #[case::other(Some("api"), Some("api"), false)]
    fn changes_of_the_selected_services(
        #[case] before: Option<&str>,
        #[case] after: Option<&str>,
        #[case] expect: bool,
    ) {
        let slice = |service: &str| json!({"metadata": {"labels": {SERVICE_NAME_LABEL: service}}});
        let change = Change {
            object: object(Kind::EndpointSlice, "shop", "web-x"),
            before: before.map(slice),
            after: after.map(slice),
            classes: [DifferenceClass::Content].into(),
            reasons: Vec::new(),
        };
        assert_eq!(selection().has_change(&change), expect);
    }
}
