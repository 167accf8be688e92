//! Limits on the number of creates and deletes, relative to the run without faults.

use std::collections::BTreeMap;

use crate::log::{EntryKind, Log};
use crate::point::Verb;

/// Creates (and deletes) of one object that each fault, disturbance and process start may add to those of the run
/// without faults.
const EACH: usize = 4;

/// Number of creates and deletes, by resource, namespace, name of the object, and verb.
type Counts<'a> = BTreeMap<(&'a str, &'a str, String, Verb), usize>;

/// Creates (and deletes) of one resource in total, allowed per step of the user, fault, disturbance and process start.
const IN_ALL: usize = 8;

/// Returns a violation for each object, and each resource, that was created or deleted too often. All slices of a
/// Service count as one object.
///
/// `fault_free` repeats the run without faults and returns its log. It is called only if a count exceeds the number
/// that faults may add.
pub(super) fn excess(log: &Log, fault_free: &dyn Fn() -> Log) -> Vec<String> {
    let is_step = |what: &EntryKind| matches!(what, EntryKind::User { .. });
    let (faults, steps) = (count(log, is_fault), count(log, is_step));
    let counts = counts(log);
    let mut found = in_all(&counts, IN_ALL * (steps + faults));
    let allowed = EACH * faults;
    let often: Vec<_> = counts.iter().filter(|(_, count)| **count > allowed).collect();
    if often.is_empty() {
        return found;
    }
    let fault_free = fault_free();
    let usual = self::counts(&fault_free);
    for (key, count) in often {
        let usual = usual.get(key).copied().unwrap_or_default();
        if *count > usual + allowed {
            let (resource, namespace, name, verb) = key;
            let what = format!("{verb} of {resource} of {namespace}/{name}");
            found.push(format!("{what}: {count} times, {usual} without faults, at most {allowed} more allowed"));
        }
    }
    found
}

fn in_all(counts: &Counts<'_>, allowed: usize) -> Vec<String> {
    let mut sums = BTreeMap::<_, usize>::new();
    for ((resource, _, _, verb), count) in counts {
        *sums.entry((*resource, *verb)).or_default() += count;
    }
    sums.retain(|_, count| *count > allowed);
    let too_many = |((resource, verb), count)| format!("{verb} of {resource}: {count} times, at most {allowed}");
    sums.into_iter().map(too_many).collect()
}

fn is_fault(what: &EntryKind) -> bool {
    matches!(what, EntryKind::Fault { .. } | EntryKind::Disturbance(_) | EntryKind::Started { .. })
}

fn count(log: &Log, counts: impl Fn(&EntryKind) -> bool) -> usize {
    log.entries().iter().filter(|entry| counts(&entry.what)).count()
}

fn counts(log: &Log) -> Counts<'_> {
    let mut counts = Counts::new();
    for entry in log.entries() {
        let EntryKind::Request { point, target, body, code: Some(200..300), .. } = &entry.what else { continue };
        if !point.resource.starts_with("endpoint") || !matches!(point.verb, Verb::Create | Verb::Delete) {
            continue;
        }
        let named;
        let name = if point.verb == Verb::Create {
            named = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
            named["metadata"]["name"].as_str().unwrap_or_default()
        } else {
            &target.name
        };
        // The name of a slice consists of that of its Service, a dash and a suffix.
        let is_slice = point.resource == "endpointslices";
        let of = name.rsplit_once('-').filter(|_| is_slice).map_or(name, |(service, _)| service);
        *counts.entry((&*point.resource, &*target.namespace, of.to_owned(), point.verb)).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::point::Point;
    use crate::request::Target;

    /// Returns the log of a run with one process start and `slices` creates of slices.
    fn log(slices: u32) -> Log {
        let mut log = Log::default();
        log.push(Duration::ZERO, EntryKind::Started { process: "a".to_owned() });
        let path = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices".parse().unwrap();
        let target = Target::of(&http::Method::POST, &path);
        for nth in 1..=slices {
            let (target, resource) = (target.clone(), target.resource.clone());
            let point = Point { process: "a".to_owned(), verb: Verb::Create, resource, nth };
            let body: Bytes = format!(r#"{{"metadata":{{"name":"web-{nth}"}}}}"#).into();
            let what = EntryKind::Request { point, target, body, code: Some(201), answer: Bytes::new() };
            log.push(Duration::ZERO, what);
        }
        log
    }

    #[test]
    fn creates_of_all_slices_of_a_service_are_compared() {
        assert_eq!(excess(&log(4), &|| panic!("must not be called")), [""; 0]);
        assert_eq!(excess(&log(6), &|| log(2)), [""; 0]);
        let found = excess(&log(7), &|| log(2));
        assert_eq!(found, ["create of endpointslices of shop/web: 7 times, 2 without faults, at most 4 more allowed"]);
    }

    #[test]
    fn runs_without_faults_are_bounded_too() {
        let found = excess(&log(9), &|| log(9));
        assert_eq!(found, ["create of endpointslices: 9 times, at most 8"]);
    }
}
