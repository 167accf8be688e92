//! The flag `--controllers`: which controllers run.

mod upstream_only;

pub(crate) use kube_endpoint_model::well_known::{
    ENDPOINTS_CONTROLLER_NAME as ENDPOINTS, MIRRORING_CONTROLLER_NAME as MIRRORING,
    SLICE_CONTROLLER_NAME as ENDPOINTSLICE,
};
use upstream_only::UPSTREAM_ONLY;

use crate::feature_gates::{ENDPOINT_SLICE, FeatureGates};

/// The set of enabled controllers, the value of `--controllers`; all by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controllers {
    /// Whether `endpoints-controller` is enabled.
    pub endpoints: bool,
    /// Whether `endpointslice-controller` is enabled.
    pub endpointslice: bool,
    /// Whether `endpointslice-mirroring-controller` is enabled.
    pub mirroring: bool,
}

impl Controllers {
    /// No controller enabled.
    pub(crate) const NONE: Controllers = Controllers { endpoints: false, endpointslice: false, mirroring: false };
}

impl Default for Controllers {
    /// All controllers enabled.
    fn default() -> Self {
        Controllers { endpoints: true, endpointslice: true, mirroring: true }
    }
}

/// The error for a name in `--controllers` that is no controller of kube-controller-manager 1.36.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name:?} is not in the list of known controllers")]
pub struct UnknownController {
    name: String,
}

/// The controllers of this program: canonical name, and alias (the name before Kubernetes 1.28).
const IMPLEMENTED: [(&str, &str); 3] =
    [(ENDPOINTS, "endpoint"), (ENDPOINTSLICE, "endpointslice"), (MIRRORING, "endpointslicemirroring")];

fn is_known(name: &str) -> bool {
    IMPLEMENTED.iter().any(|(canonical, alias)| name == *canonical || name == *alias)
        || UPSTREAM_ONLY.iter().any(|(canonical, alias)| name == *canonical || Some(name) == *alias)
}

impl Controllers {
    /// Resolves the value of `--controllers`, such as `*,-endpoints-controller`, by upstream's rules (CM-4).
    ///
    /// For each controller the first entry with its name or alias decides: `name` enables it, `-name` disables it. A
    /// controller that no entry names is enabled if there is a `*`. Names of other controllers of
    /// kube-controller-manager and empty entries are accepted and ignored.
    ///
    /// # Errors
    ///
    /// One [`UnknownController`] for each name that is no controller of kube-controller-manager 1.36.
    pub fn parse(list: &[String]) -> Result<Controllers, Vec<UnknownController>> {
        let unknown: Vec<_> = list
            .iter()
            .filter(|entry| !["*", ""].contains(&entry.as_str()))
            .map(|entry| entry.strip_prefix('-').unwrap_or(entry))
            .filter(|name| !is_known(name))
            .map(|name| UnknownController { name: name.to_owned() })
            .collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let wildcard = list.iter().any(|entry| entry == "*");
        let enabled = |(canonical, alias): (&str, &str)| {
            list.iter()
                .find_map(|entry| match entry.strip_prefix('-') {
                    Some(name) if name == canonical || name == alias => Some(false),
                    None if entry == canonical || entry == alias => Some(true),
                    _ => None,
                })
                .unwrap_or(wildcard)
        };
        let [endpoints, endpointslice, mirroring] = IMPLEMENTED.map(enabled);
        Ok(Controllers { endpoints, endpointslice, mirroring })
    }

    /// Returns the names of the enabled controllers that write EndpointSlices.
    pub(crate) fn slice_controllers(self) -> Vec<&'static str> {
        let both = [(ENDPOINTSLICE, self.endpointslice), (MIRRORING, self.mirroring)];
        both.into_iter().filter(|(_, runs)| *runs).map(|(name, _)| name).collect()
    }

    /// Returns the names of the enabled controllers.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let endpoints = self.endpoints.then_some(ENDPOINTS);
        endpoints.into_iter().chain(self.slice_controllers()).collect()
    }

    /// Returns the controllers to run: those enabled, compiled in, and not disabled by a feature gate. Logs a warning for
    /// each other one that is enabled.
    pub(crate) fn running(self, gates: &FeatureGates) -> Controllers {
        let mut running = self.compiled_in();
        if !gates.enabled(ENDPOINT_SLICE) {
            for name in running.slice_controllers() {
                tracing::warn!("Not starting {name} since EndpointSlice feature gate is disabled");
            }
            (running.endpointslice, running.mirroring) = (false, false);
        }
        running
    }

    /// Returns the enabled controllers that are compiled in, and logs a warning for each other one.
    fn compiled_in(self) -> Controllers {
        let compiled = |enabled: bool, name: &str, available: bool| {
            if enabled && !available {
                tracing::warn!("Not starting {name} since this program was built without it");
            }
            enabled && available
        };
        Controllers {
            endpoints: compiled(self.endpoints, ENDPOINTS, cfg!(feature = "endpoint")),
            endpointslice: compiled(self.endpointslice, ENDPOINTSLICE, cfg!(feature = "endpointslice")),
            mirroring: compiled(self.mirroring, MIRRORING, cfg!(feature = "mirroring")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn parse(list: &str) -> Result<Controllers, Vec<UnknownController>> {
        Controllers::parse(&list.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect::<Vec<_>>())
    }

    #[rstest]
    #[case("*", (true, true, true))]
    #[case("*,-endpoints-controller", (false, true, true))]
    #[case("-endpointslice,*", (true, false, true))]
    #[case("endpointslicemirroring", (false, false, true))]
    #[case("-endpoint,endpoint,*", (false, true, true))]
    #[case("endpoint,-endpoints-controller", (true, false, false))]
    #[case("", (false, false, false))]
    #[case("*,bootstrapsigner,tokencleaner", (true, true, true))] // kubeadm
    #[case("-csrsigning,endpoint,pod-garbage-collector-controller", (true, false, false))]
    fn controllers_flag_resolves_by_upstreams_rules(
        #[case] list: &str,
        #[case] (endpoints, endpointslice, mirroring): (bool, bool, bool),
    ) {
        assert_eq!(parse(list), Ok(Controllers { endpoints, endpointslice, mirroring }));
    }

    #[rstest]
    #[case::alone(&[""], (false, false, false))]
    #[case::at_the_end(&["*", "-endpoint", ""], (false, true, true))]
    #[case::at_the_beginning(&["", "endpoint"], (true, false, false))]
    fn empty_entries_are_ignored(
        #[case] list: &[&str],
        #[case] (endpoints, endpointslice, mirroring): (bool, bool, bool),
    ) {
        let list: Vec<_> = list.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(Controllers::parse(&list), Ok(Controllers { endpoints, endpointslice, mirroring }));
    }

    #[rstest]
    #[case("*,-nonsense", &["\"nonsense\" is not in the list of known controllers"])]
    #[case("Endpoint", &["\"Endpoint\" is not in the list of known controllers"])]
    #[case("a,--endpoint", &[
        "\"a\" is not in the list of known controllers",
        "\"-endpoint\" is not in the list of known controllers",
    ])]
    #[case("-", &["\"\" is not in the list of known controllers"])]
    fn unknown_names_are_reported_verbatim(#[case] list: &str, #[case] expected: &[&str]) {
        let messages: Vec<String> = parse(list).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let implemented = IMPLEMENTED.iter().flat_map(|(name, alias)| [*name, *alias]);
        let upstream_only = UPSTREAM_ONLY.iter().flat_map(|(name, alias)| std::iter::once(*name).chain(*alias));
        let mut names: Vec<&str> = implemented.chain(upstream_only).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
