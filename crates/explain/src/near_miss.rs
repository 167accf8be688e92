//! Selectors and labels that almost match.

use std::collections::HashMap;
use std::sync::Arc;

use kube_endpoint_model::{Code, Labels, ObjectKey, Pod, Service, Text};
use strsim::osa_distance;

use crate::report::{Kind, NearMiss, Reason};
use crate::world::World;

/// Returns what a selector and labels differ in, if they match except for one pair, and that pair is one edit away: a
/// character inserted, removed, replaced or swapped with the next one, or upper and lower case.
pub(crate) fn one_edit_away(selector: &Labels, labels: &Labels) -> Option<String> {
    let mut missing = selector.iter().filter(|(key, value)| labels.get(key) != Some(value));
    let (key, value) = missing.next()?;
    if missing.next().is_some() {
        return None;
    }
    let close = |a: &str, b: &str| osa_distance(a, b) == 1 || (a != b && a.eq_ignore_ascii_case(b));
    let found = match labels.get(key) {
        // A single character is one edit away from every other.
        Some(has) => (close(has, value) && has.len() + value.len() > 2).then_some((key, has)),
        None => labels.iter().find(|(other, has)| *has == value && close(other, key)),
    };
    let (has_key, has) = found?;
    Some(format!("has {has_key}={has}, selector requires {key}={value} (one edit away)"))
}

/// Pods that no Service selects, by namespace and labels: candidates for selectors that almost match.
#[derive(Default)]
pub(crate) struct Unselected<'a>(HashMap<&'a Text, HashMap<&'a Labels, Vec<&'a Arc<Pod>>>>);

impl<'a> Unselected<'a> {
    /// Groups those of `pods` that no Service of the world selects and that have not finished. None while Services are
    /// unknown: one that could not be read may select the Pod.
    pub(crate) fn new(world: &'a World, pods: impl Iterator<Item = &'a Arc<Pod>>) -> Self {
        if world.is_unknown(Kind::Service) {
            return Unselected::default();
        }
        let mut namespaces: HashMap<&Text, HashMap<&Labels, Vec<&Arc<Pod>>>> = HashMap::new();
        for pod in pods.filter(|pod| !pod.finished && !pod.labels.is_empty()) {
            namespaces.entry(&pod.namespace).or_default().entry(&pod.labels).or_default().push(pod);
        }
        for (namespace, by_labels) in &mut namespaces {
            by_labels.retain(|labels, _| world.selectors.select(namespace, labels).is_empty());
        }
        Unselected(namespaces)
    }

    /// Returns the Pods that the selector of a Service almost matches, by name.
    pub(crate) fn near_misses(&self, service: &Service) -> Vec<NearMiss> {
        let Some(selector) = selector(service) else { return Vec::new() };
        let mut found: Vec<NearMiss> = (self.0.get(&service.namespace).into_iter().flatten())
            .filter_map(|(labels, pods)| Some((one_edit_away(selector, labels)?, pods)))
            .flat_map(|(difference, pods)| pods.iter().map(move |pod| near_miss(&pod.name, &difference)))
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }
}

impl World {
    /// Returns why the selector of a Service does not match a Pod that no Service selects; `None` unless it almost does.
    pub fn near_miss(&self, service: &ObjectKey, pod: &ObjectKey) -> Option<NearMiss> {
        let (service, pod) = (self.services.get(service)?, self.pods.get(pod)?);
        Unselected::new(self, std::iter::once(pod)).near_misses(service).pop()
    }
}

/// Returns the Services of the Pod's namespace whose selector almost matches a Pod that none selects, by name. None
/// while Services are unknown.
pub(crate) fn services_near(world: &World, pod: &Pod) -> Vec<NearMiss> {
    if world.is_unknown(Kind::Service) || !world.selectors.select(&pod.namespace, &pod.labels).is_empty() {
        return Vec::new();
    }
    let services = world.services().filter(|service| service.namespace == pod.namespace);
    let near = services.filter_map(|service| Some((service, one_edit_away(selector(service)?, &pod.labels)?)));
    near.map(|(service, difference)| near_miss(&service.name, &difference)).collect()
}

/// Returns the selector of a Service; `None` also for an alias, which selects nothing.
fn selector(service: &Service) -> Option<&Labels> {
    service.selector.as_ref().filter(|_| !service.external_name)
}

fn near_miss(name: &str, difference: &str) -> NearMiss {
    let message = format!("not selected: {difference}");
    NearMiss { name: name.to_owned(), reason: Reason { code: Code::PodNotSelected, message } }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn labels(text: &str) -> Labels {
        text.split(',').filter_map(|pair| pair.split_once('=')).collect()
    }

    #[rstest]
    #[case::matches("app=web", "app=web", None)]
    #[case::inserted("app=checkout", "app=check-out", Some("has app=check-out, selector requires app=checkout"))]
    #[case::swapped("app=web", "app=wbe,tier=front", Some("has app=wbe, selector requires app=web"))]
    #[case::case_of_letters("app=web", "app=WEB", Some("has app=WEB, selector requires app=web"))]
    #[case::key("app=web", "aap=web", Some("has aap=web, selector requires app=web"))]
    #[case::two_edits("app=web", "app=wabs", None)]
    #[case::two_pairs("app=web,tier=front", "app=wab,tier=fronts", None)]
    #[case::absent("app=web", "tier=front", None)]
    #[case::single_characters("shard=1", "shard=2", None)]
    fn edits(#[case] selector: &str, #[case] of_pod: &str, #[case] expected: Option<&str>) {
        let expected = expected.map(|text| format!("{text} (one edit away)"));
        assert_eq!(one_edit_away(&labels(selector), &labels(of_pod)), expected);
    }
}
