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
const HOSTILE: &str = "hostile";

/// Scenario that was not recorded.
pub struct Hostile {
    name: String,
    about: &'static str,
    needs: Needs,
    server: fn(&mut kube_dev_apiserver::Config),
    before: Option<Part>,
    work: Part,
}

type Part = Box<dyn for<'a> Fn(&'a World) -> BoxFuture<'a, Result<()>> + Send + Sync>;

/// Requirements of a scenario, besides the embedded server.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent requirements")]
struct Needs {
    /// Outputs of which one must be claimed; empty for no requirement.
    outputs: &'static [Output],
    /// Settings of the controllers.
    mode: Mode,
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
    fn of(output: Output) -> Self {
        let outputs: &[_] = match output {
            Output::Endpoints => &[Output::Endpoints],
            Output::ServiceSlices => &[Output::ServiceSlices],
            Output::MirroredSlices => &[Output::MirroredSlices],
        };
        Self { outputs, ..Self::default() }
    }

    /// Requires slices or Endpoints for Services with a selector.
    fn services() -> Self {
        Self { outputs: &[Output::ServiceSlices, Output::Endpoints], ..Self::default() }
    }

    /// Returns the first requirement that is not met, as the reason why the scenario is not played.
    fn unmet(self, profile: &Profile, target: &Target, subject: &dyn Subject) -> Option<String> {
        let Self { outputs, mode, exact, exact_writes, events, checked_lists } = self;
        let names = outputs.iter().map(|output| output.name()).collect::<Vec<_>>().join(" or ");
        let without = match mode {
            Mode::Plain => "it requires controllers",
            Mode::Resync => "it requires controllers that are started with a short resync period",
            Mode::Elected => "it requires controllers that are started with leader election",
            Mode::Restarted => "it requires controllers that it can stop and start",
        };
        let checks = [
            (names.is_empty() || outputs.iter().any(|&output| profile.claims(output)), &*names),
            (!exact || profile.is_exact(), "the profile compares endpoints only"),
            (!exact_writes || profile.writes == WriteBound::Exact, "the profile bounds the number of writes only"),
            (!events || profile.events, "the profile does not compare events"),
            (!checked_lists || profile.checks_lists, "the profile does not claim to check lists"),
            (!matches!(target, Target::Cluster { .. }), "it requires the embedded API server"),
            (subject.supports(mode), without),
        ];
        let (position, (_, reason)) = checks.iter().enumerate().find(|(_, (is_met, _))| !is_met)?;
        Some(if position == 0 { format!("the profile has no {reason}") } else { (*reason).to_owned() })
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

    /// Returns the key in reports, `hostile/group/case`.
    pub fn key(&self) -> String {
        format!("{HOSTILE}/{}", self.name)
    }

    /// Returns the description in one line.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns why the scenario is not played; `None` if it is.
    pub fn skips(&self, profile: &Profile, target: &Target, subject: &dyn Subject) -> Option<String> {
        let listed = profile.skips_key(&self.key(), &<_>::default());
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
    #[case("controller-manager", 50)]
    #[case("service-slices", 32)]
    #[case("endpoints", 20)]
    #[case("mirrored-slices", 13)]
    #[case("own-label", 30)]
    fn numbers_of_scenarios(#[case] profile: &str, #[case] expect: usize) {
        let profile = Profile::find(profile).unwrap();
        let plain = CommandLine::parse("controller").unwrap();
        let words = Some(plain.plain.clone());
        let subject = CommandLine { resync: words.clone(), elected: words, ..plain };
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
