//! Which recorded scenarios apply to a profile.

use std::collections::BTreeSet;

use super::{Output, Profile, Skip, labels};
use crate::{Kind, Operation, Scenario, Tag};

/// Label of Endpoints with the name of the controller that writes them, and its value for Kubernetes' controller.
const ENDPOINTS_MANAGED_BY: (&str, &str) = ("endpoints.kubernetes.io/managed-by", "endpoint-controller");

impl Profile {
    /// Returns why a recorded scenario is not played; `None` if it is.
    pub fn skips(&self, file: &str, scenario: &Scenario) -> Option<String> {
        let listed = self.skips_key(&format!("{file}/{}", scenario.name), &scenario.tags);
        listed.or_else(|| self.depends_on_others(scenario)).or_else(|| self.is_irrelevant(scenario))
    }

    /// Returns the reason of the first entry of [`skip`](Self::skip) that selects this key or one of these tags.
    pub(crate) fn skips_key(&self, scenario_key: &str, tags: &BTreeSet<Tag>) -> Option<String> {
        let selects = |Skip { key, tag, reason: _ }: &Skip| {
            let by_key = key.as_ref().is_none_or(|part| scenario_key.contains(part.as_str()));
            by_key && tag.is_none_or(|tag| tags.contains(&tag))
        };
        self.skip.iter().find(|skip| selects(skip)).map(|skip| format!("profile: {}", skip.reason))
    }

    /// Returns how a scenario depends on a controller that the profile does not include.
    fn depends_on_others(&self, scenario: &Scenario) -> Option<String> {
        if self.claims(Output::Endpoints) {
            return None;
        }
        let mut created = BTreeSet::new();
        for operation in scenario.steps.iter().flat_map(|step| &step.operations) {
            match operation {
                Operation::Create { obj } if obj.kind == Kind::Endpoints => drop(created.insert(obj.name.as_str())),
                Operation::Merge { kind: Kind::Endpoints, name, .. }
                | Operation::Delete { kind: Kind::Endpoints, name, .. }
                    if !created.contains(name.as_str()) =>
                {
                    return Some("it changes Endpoints that only the Endpoints controller creates".to_owned());
                }
                _ => {}
            }
        }
        if !self.claims(Output::MirroredSlices) {
            return None;
        }
        let states = || scenario.steps.iter().map(|step| &step.expect);
        let (key, value) = ENDPOINTS_MANAGED_BY;
        let managed = states().flat_map(|state| &state.endpoints).filter(|it| it["labels"][key] == value);
        let managed: BTreeSet<_> = managed.filter_map(|it| it["name"].as_str()).collect();
        let mirrored = states().flat_map(|state| &state.slices).filter(|slice| is_mirrored(slice));
        let mut services = mirrored.filter_map(|slice| slice["labels"][labels::SERVICE_NAME_LABEL].as_str());
        let is_mirror_of_managed = services.any(|service| managed.contains(service));
        is_mirror_of_managed.then(|| "it mirrors Endpoints that the Endpoints controller writes".to_owned())
    }

    /// Returns that a scenario contains nothing that the controller reads.
    fn is_irrelevant(&self, scenario: &Scenario) -> Option<String> {
        if self.claims(Output::Endpoints) || self.claims(Output::ServiceSlices) {
            return None;
        }
        let mut operations = scenario.steps.iter().flat_map(|step| &step.operations);
        let has_endpoints = operations.any(|it| matches!(it, Operation::Create { obj } if obj.kind == Kind::Endpoints));
        (!has_endpoints).then(|| "it has no Endpoints to mirror".to_owned())
    }
}

fn is_mirrored(slice: &serde_json::Value) -> bool {
    let manager = slice["labels"][labels::MANAGED_BY_LABEL].as_str();
    manager.and_then(labels::output_of) == Some(Output::MirroredSlices)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::Recording;

    fn played(profile: &Profile) -> Vec<String> {
        let (_, core) = Recording::builtin().unwrap().into_iter().find(|(file, _)| file == "core").unwrap();
        core.scenarios.into_iter().filter(|it| profile.skips("core", it).is_none()).map(|it| it.name).collect()
    }

    #[rstest]
    #[case::all("controller-manager", 104)]
    #[case::endpoints("endpoints", 104)]
    // All but those that change Endpoints that the Endpoints controller creates.
    #[case::slices("service-slices", 100)]
    #[case::own("own-label", 100)]
    #[case::mirrored("mirrored-slices", 17)]
    fn numbers_of_recorded_scenarios(#[case] profile: &str, #[case] expect: usize) {
        let played = played(&Profile::find(profile).unwrap());
        assert_eq!(played.len(), expect, "{played:#?}");
    }

    #[test]
    fn a_profile_can_exclude_keys_and_tags() {
        let text = "{name: n, service-slices: {}, skip: [{key: core/mirror, reason: no mirror}, {tag: hints, reason: no hints}]}";
        let profile = Profile::parse(text).unwrap();
        assert_eq!(profile.skips_key("core/mirror-dual", &<_>::default()).as_deref(), Some("profile: no mirror"));
        assert_eq!(profile.skips_key("a/b", &BTreeSet::from([Tag::Hints])).as_deref(), Some("profile: no hints"));
        assert_eq!(profile.skips_key("a/b", &<_>::default()), None);
    }
}
