//! Scenarios on hostile clusters, which were not recorded.
//!
//! Each scenario asserts the final objects, and ends with a period in which nothing may be written. Most assert the numbers
//! of writes, which are derived from Kubernetes' code: one sync for each event that enqueues a Service, at most one write for
//! each sync. Those of many objects assert that no right endpoint is removed at any moment.

mod changed;
mod checks;
mod cleanups;
mod deletions;
mod edits;
mod fleet;
mod hints;
mod kept;
mod lists;
mod mirrored;
mod namespaces;
mod objects;
mod policy;
mod refused;
mod responses;
mod restarts;
mod restores;
mod standby;
mod times;
mod world;

use anyhow::Result;
use futures::future::BoxFuture;

pub use world::World;

use crate::{Mode, Output, Profile, Subject, Target, WriteBound};

/// File name of these scenarios in keys and reports.
pub const HOSTILE: &str = "hostile";

/// Scenario that was not recorded.
pub struct Hostile {
    name: String,
    about: &'static str,
    needs: Needs,
    server: fn(&mut kube_dev_apiserver::Config),
    before: Option<Part>,
    work: Part,
}

/// Part of a scenario.
type Part = Box<dyn for<'a> Fn(&'a World) -> BoxFuture<'a, Result<()>> + Send + Sync>;

/// Requirements of a scenario.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent requirements")]
pub(crate) struct Needs {
    /// The embedded server, for faults, restores or other features.
    embedded: bool,
    /// Settings of the controllers.
    mode: Mode,
    /// Outputs that must all be claimed.
    all: &'static [Output],
    /// Outputs of which one must be claimed; empty for no requirement.
    any: &'static [Output],
    /// Exact comparison of objects, since the scenario asserts more than endpoints.
    exact: bool,
    /// Exact numbers of writes, since no other bound is meaningful.
    exact_writes: bool,
    /// Events, of Kubernetes' components and reasons.
    events: bool,
    /// Checks of lists, which Kubernetes' controllers do not make.
    checked_lists: bool,
}

impl Needs {
    /// Requires slices for Services with a selector.
    pub(crate) const SERVICE_SLICES: Self = Self { all: &[Output::ServiceSlices], ..Self::NOTHING };
    /// Requires mirrored slices.
    pub(crate) const MIRRORED_SLICES: Self = Self { all: &[Output::MirroredSlices], ..Self::NOTHING };
    /// Requires Endpoints.
    pub(crate) const ENDPOINTS: Self = Self { all: &[Output::Endpoints], ..Self::NOTHING };
    /// Requires slices or Endpoints for Services with a selector.
    pub(crate) const SERVICES: Self = Self { any: &[Output::ServiceSlices, Output::Endpoints], ..Self::NOTHING };

    const NOTHING: Self = Self {
        embedded: false,
        mode: Mode::Plain,
        all: &[],
        any: &[],
        exact: false,
        exact_writes: false,
        events: false,
        checked_lists: false,
    };

    pub(crate) const fn embedded(self) -> Self {
        Self { embedded: true, ..self }
    }

    pub(crate) const fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    pub(crate) const fn exact(self) -> Self {
        Self { exact: true, ..self }
    }

    pub(crate) const fn exact_writes(self) -> Self {
        Self { exact_writes: true, ..self }
    }

    pub(crate) const fn events(self) -> Self {
        Self { events: true, ..self }
    }

    pub(crate) const fn checked_lists(self) -> Self {
        Self { checked_lists: true, ..self }
    }

    /// Returns the first requirement that is not met, as the reason why the scenario is not played.
    fn unmet(self, profile: &Profile, target: &Target, subject: &dyn Subject) -> Option<String> {
        let Self { embedded, mode, all, any, exact, exact_writes, events, checked_lists } = self;
        if let Some(output) = all.iter().find(|&&output| !profile.claims(output)) {
            return Some(format!("the profile has no {}", output.name()));
        }
        if !any.is_empty() && !any.iter().any(|&output| profile.claims(output)) {
            let names: Vec<_> = any.iter().map(|output| output.name()).collect();
            return Some(format!("the profile has neither {}", names.join(" nor ")));
        }
        if exact && !profile.is_exact() {
            return Some("the profile compares endpoints only".to_owned());
        }
        if exact_writes && profile.writes != WriteBound::Exact {
            return Some("the profile bounds the number of writes only".to_owned());
        }
        if events && !profile.events {
            return Some("the profile does not compare events".to_owned());
        }
        if checked_lists && !profile.checks_lists {
            return Some("the profile does not claim to check lists".to_owned());
        }
        if embedded && *target != Target::Embedded {
            return Some("it requires the embedded API server".to_owned());
        }
        match mode {
            _ if subject.supports(mode) => None,
            Mode::Plain => Some("it requires controllers".to_owned()),
            Mode::Resync => Some("it requires controllers that are started with a short resync period".to_owned()),
            Mode::Elected => Some("it requires controllers that are started with leader election".to_owned()),
            Mode::Restarted => Some("it requires controllers that it can stop and start".to_owned()),
        }
    }
}

impl Hostile {
    fn new<F>(name: impl Into<String>, about: &'static str, needs: Needs, work: F) -> Self
    where
        F: for<'a> Fn(&'a World) -> BoxFuture<'a, Result<()>> + Send + Sync + 'static,
    {
        Self { name: name.into(), about, needs, server: |_| {}, before: None, work: Box::new(work) }
    }

    /// Adds work before the controllers are started.
    fn before<F>(self, work: F) -> Self
    where
        F: for<'a> Fn(&'a World) -> BoxFuture<'a, Result<()>> + Send + Sync + 'static,
    {
        Self { before: Some(Box::new(work)), ..self }
    }

    /// Sets options of the embedded server.
    fn server(self, server: fn(&mut kube_dev_apiserver::Config)) -> Self {
        Self { server, ..self }
    }

    pub(crate) fn configure(&self, server: &mut kube_dev_apiserver::Config) {
        (self.server)(server);
    }

    /// Returns the name, `group/case`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description in one line.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns why the scenario is not played; `None` if it is.
    pub fn skips(&self, profile: &Profile, target: &Target, subject: &dyn Subject) -> Option<String> {
        let listed = profile.skips_key(&format!("{HOSTILE}/{}", self.name), &<_>::default());
        listed.or_else(|| self.needs.unmet(profile, target, subject))
    }

    /// Returns all scenarios.
    pub fn all() -> Vec<Self> {
        let groups = [
            changed::scenarios,
            cleanups::scenarios,
            deletions::scenarios,
            edits::scenarios,
            hints::scenarios,
            lists::scenarios,
            mirrored::scenarios,
            namespaces::scenarios,
            refused::scenarios,
            responses::scenarios,
            restarts::scenarios,
            restores::scenarios,
            standby::scenarios,
            times::scenarios,
        ];
        groups.into_iter().flat_map(|group| group()).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::CommandLine;

    #[rstest]
    #[case("controller-manager", 49)]
    #[case("service-slices", 31)]
    #[case("endpoints", 20)]
    #[case("mirrored-slices", 13)]
    #[case("own-label", 29)]
    fn numbers_of_scenarios(#[case] profile: &str, #[case] expect: usize) {
        let profile = Profile::find(profile).unwrap();
        let subject = CommandLine::controller_manager(std::path::Path::new("controller-manager"));
        let mut all = Hostile::all();
        all.retain(|it| it.skips(&profile, &Target::Embedded, &subject).is_none());
        let names: Vec<_> = all.iter().map(Hostile::name).collect();
        assert_eq!(names.len(), expect, "{names:#?}");
    }

    #[test]
    fn requirements_are_named() {
        let profile = Profile::find("own-label").unwrap();
        let only_plain = CommandLine::parse("controller").unwrap();
        let reason = |name: &str, target: &Target| {
            let scenario = Hostile::all().into_iter().find(|it| it.name() == name).unwrap();
            scenario.skips(&profile, target, &only_plain).unwrap()
        };
        let cluster = Target::Cluster { kubeconfig: "k".into() };
        assert_eq!(reason("hints/reported-once", &Target::Embedded), "the profile compares endpoints only");
        assert_eq!(reason("mirrored/name-kept", &Target::Embedded), "the profile has no mirrored-slices");
        assert_eq!(reason("namespaces/terminating", &Target::Embedded), "the profile bounds the number of writes only");
        assert_eq!(reason("responses/reset", &cluster), "it requires the embedded API server");
        let unchecked = "the profile does not claim to check lists";
        assert_eq!(reason("first-lists/pods", &Target::Embedded), unchecked);
        let elected = "it requires controllers that are started with leader election";
        assert_eq!(reason("standby/behind", &Target::Embedded), elected);
    }
}
