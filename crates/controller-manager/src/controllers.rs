//! The controllers of this program, and the flag `--controllers`.
//!
//! A controller is a file in `controllers/` and its name in [`registry!`]. The file has its [`Registration`] and its
//! `Flags`.

mod endpoints;
mod endpointslice;
mod mirroring;
mod registration;

use clap::Args;
use kube_controller::SyncOptions;
use kube_endpoint_model::EndpointSlice;
use kube_wire::{Decode as _, Resource};
use serde_json::Value;

use crate::feature_gates::{ENDPOINT_SLICE, FeatureGates};
use crate::settings::Settings;
use registration::Built;
pub(crate) use registration::{Parts, Registration};

/// Declares the list of controllers, their settings and their flags, from the names of their modules.
macro_rules! registry {
    ($($controller:ident),+ $(,)?) => {
        /// The controllers of this program, in the order of their start.
        const REGISTRY: &[Registration] = &[$($controller::REGISTRATION),+];

        /// Concurrency and batching of each controller.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct ControllerSyncs {
            $(#[doc = concat!("Those of the controller `", stringify!($controller), "`.")] pub $controller: SyncOptions),+
        }

        impl ControllerSyncs {
            /// Returns the settings of all controllers.
            pub fn all_mut(&mut self) -> impl Iterator<Item = &mut SyncOptions> {
                [$(&mut self.$controller),+].into_iter()
            }
        }

        /// Flags of each controller.
        #[derive(Clone, Debug, Args)]
        pub(crate) struct ControllerFlags {
            $(#[command(flatten)] $controller: $controller::Flags),+
        }

        impl ControllerFlags {
            pub(crate) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
                $(self.$controller.apply(settings, errors);)+
            }
        }
    };
}

registry! {
    endpoints,
    endpointslice,
    mirroring,
}

/// The controllers of kube-controller-manager 1.36 that this program does not implement. A line for each: its name and,
/// where upstream has one, its alias, the name before Kubernetes 1.28.
const UPSTREAM_ONLY: &str = include_str!("controllers/upstream_only.txt");

/// The set of enabled controllers, the value of `--controllers`; all by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controllers(Vec<&'static str>);

impl Default for Controllers {
    fn default() -> Self {
        Controllers(REGISTRY.iter().map(|it| it.name).collect())
    }
}

fn is_known(name: &str) -> bool {
    REGISTRY.iter().any(|it| name == it.name || name == it.alias)
        || UPSTREAM_ONLY.split_whitespace().any(|it| it == name)
}

/// Returns the sections of `/configz` of the controllers that are compiled in.
pub(crate) fn configz(settings: &Settings) -> impl Iterator<Item = (&'static str, Value)> {
    REGISTRY.iter().filter(|it| it.build.is_some()).map(|it| (it.configz)(settings))
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
    /// A message for each name that is no controller of kube-controller-manager 1.36.
    pub fn parse(list: &[String]) -> Result<Controllers, Vec<String>> {
        let unknown: Vec<_> = list
            .iter()
            .filter(|entry| !["*", ""].contains(&entry.as_str()))
            .map(|entry| entry.strip_prefix('-').unwrap_or(entry))
            .filter(|name| !is_known(name))
            .map(|name| format!("{name:?} is not in the list of known controllers"))
            .collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let wildcard = list.iter().any(|entry| entry == "*");
        let is_enabled = |it: &&Registration| {
            list.iter()
                .find_map(|entry| match entry.strip_prefix('-') {
                    Some(name) if name == it.name || name == it.alias => Some(false),
                    None if entry == it.name || entry == it.alias => Some(true),
                    _ => None,
                })
                .unwrap_or(wildcard)
        };
        Ok(Controllers(REGISTRY.iter().filter(is_enabled).map(|it| it.name).collect()))
    }

    /// Returns the canonical names of the enabled controllers, in the order of their start.
    pub fn names(&self) -> &[&'static str] {
        &self.0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Registration> {
        REGISTRY.iter().filter(|it| self.0.contains(&it.name))
    }

    /// Returns the resources whose caches the enabled controllers read, with repetitions.
    pub(crate) fn reads(&self) -> Vec<Resource> {
        self.iter().flat_map(|it| it.reads).copied().collect()
    }

    /// Returns whether the value of a managed-by label is that of an enabled controller.
    pub(crate) fn manage(&self, label: &str) -> bool {
        self.iter().any(|it| it.managed_by == label)
    }

    /// Returns the names of the enabled controllers that need the EndpointSlice API.
    pub(crate) fn slice_controllers(&self) -> Vec<&'static str> {
        self.iter().filter(|it| it.reads.contains(&EndpointSlice::RESOURCE)).map(|it| it.name).collect()
    }

    /// Returns the controllers to run: those enabled, compiled in, and not disabled by a feature gate. Logs a warning for
    /// each other one that is enabled.
    pub(crate) fn running(self, gates: &FeatureGates) -> Controllers {
        let compiled_in = self.without(|it| it.build.is_none(), "this program was built without it");
        let is_gated =
            |it: &Registration| it.reads.contains(&EndpointSlice::RESOURCE) && !gates.enabled(ENDPOINT_SLICE);
        compiled_in.without(is_gated, "EndpointSlice feature gate is disabled")
    }

    /// Returns the controllers without those for which `is_excluded` is true. Logs a warning with the reason for each of
    /// these.
    fn without(&self, is_excluded: impl Fn(&Registration) -> bool, reason: &str) -> Controllers {
        let (excluded, rest): (Vec<_>, Vec<_>) = self.iter().partition(|it| is_excluded(it));
        for name in excluded.iter().map(|it| it.name) {
            tracing::warn!("Not starting {name} since {reason}");
        }
        Controllers(rest.iter().map(|it| it.name).collect())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ENDPOINTS: &str = "endpoints-controller";
    const ENDPOINTSLICE: &str = "endpointslice-controller";
    const MIRRORING: &str = "endpointslice-mirroring-controller";

    fn parse(list: &str) -> Result<Controllers, Vec<String>> {
        Controllers::parse(&list.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect::<Vec<_>>())
    }

    #[rstest]
    #[case("*", &[ENDPOINTS, ENDPOINTSLICE, MIRRORING])]
    #[case("*,-endpoints-controller", &[ENDPOINTSLICE, MIRRORING])]
    #[case("-endpointslice,*", &[ENDPOINTS, MIRRORING])]
    #[case("endpointslicemirroring", &[MIRRORING])]
    #[case("-endpoint,endpoint,*", &[ENDPOINTSLICE, MIRRORING])]
    #[case("endpoint,-endpoints-controller", &[ENDPOINTS])]
    #[case("", &[])]
    #[case("*,bootstrapsigner,tokencleaner", &[ENDPOINTS, ENDPOINTSLICE, MIRRORING])] // kubeadm
    #[case("-csrsigning,endpoint,pod-garbage-collector-controller", &[ENDPOINTS])]
    fn controllers_flag_resolves_by_upstreams_rules(#[case] list: &str, #[case] expected: &[&str]) {
        assert_eq!(parse(list).unwrap().names(), expected);
    }

    #[rstest]
    #[case::alone(&[""], &[])]
    #[case::at_the_end(&["*", "-endpoint", ""], &[ENDPOINTSLICE, MIRRORING])]
    #[case::at_the_beginning(&["", "endpoint"], &[ENDPOINTS])]
    fn empty_entries_are_ignored(#[case] list: &[&str], #[case] expected: &[&str]) {
        let list: Vec<_> = list.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(Controllers::parse(&list).unwrap().names(), expected);
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
        assert_eq!(parse(list).unwrap_err(), expected);
    }

    #[test]
    fn help_names_every_controller_and_its_account() {
        let reference = crate::flags::reference();
        for Registration { name, account, .. } in REGISTRY {
            assert!(reference.contains(name) && reference.contains(account), "{name}");
        }
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let implemented = REGISTRY.iter().flat_map(|it| [it.name, it.alias]);
        let mut names: Vec<&str> = implemented.chain(UPSTREAM_ONLY.split_whitespace()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
