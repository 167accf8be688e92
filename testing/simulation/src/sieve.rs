//! Plans with one fault at each point of a run, after Sieve (Sun et al., OSDI 2022).
//!
//! Sieve perturbs a controller's view of the cluster in three ways, each of which is a [`Pattern`]. [`plans`]
//! enumerates the points of a log at which a pattern applies.

use std::collections::BTreeMap;

use crate::fault::{Fault, Plan};
use crate::log::{self, Entry, EntryKind, Log};
use crate::point::Point;

/// Pattern by which Sieve perturbs a controller's view of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// The process crashes between two writes (Sieve's intermediate states).
    Crash,
    /// The process crashes and restarts with a cache that has gone back in time (stale states).
    Past,
    /// The process does not observe a change that is reverted or replaced (unobserved states).
    Unobserved,
}

impl Pattern {
    /// All three patterns.
    pub const ALL: [Pattern; 3] = [Pattern::Crash, Pattern::Past, Pattern::Unobserved];
}

/// Returns a plan with a single fault for each point of a log at which the pattern applies. The log must be that of a
/// run without faults.
///
/// Only points at which the fault can matter are included, as in section 5 of the paper:
///
/// - for [`Pattern::Crash`], writes that are followed by another write of the process within one second;
/// - for [`Pattern::Past`], events after which the process writes before the next event of the same object;
/// - for [`Pattern::Unobserved`], the same, if there is a next event of that object.
pub fn plans(log: &Log, pattern: Pattern) -> Vec<Plan> {
    let entries = log.entries();
    let (points, fault) = match pattern {
        Pattern::Crash => (crashes(entries), Fault::Crash(1_000)),
        Pattern::Past => (events(entries, false), Fault::CrashToPast(50)),
        Pattern::Unobserved => (events(entries, true), Fault::Skip),
    };
    points.into_iter().map(|point| Plan { faults: [(point.clone(), fault)].into(), ..Plan::default() }).collect()
}

/// Returns the point of a successful write. `None` for other entries and for writes of Leases and Events.
fn write(entry: &Entry) -> Option<&Point> {
    match &entry.what {
        EntryKind::Request { point, target, code: Some(200..300), .. }
            if point.verb.is_write() && target.must_stop() =>
        {
            Some(point)
        }
        _ => None,
    }
}

/// Maximum time between two writes of one burst.
const BURST: std::time::Duration = std::time::Duration::from_secs(1);

fn crashes(entries: &[Entry]) -> Vec<&Point> {
    let writes: Vec<(&Entry, &Point)> = entries.iter().filter_map(|entry| Some((entry, write(entry)?))).collect();
    let followed = |(index, (entry, point)): (usize, &(&Entry, &Point))| {
        let mut later = writes[index + 1..].iter().take_while(|(later, _)| later.at <= entry.at + BURST);
        later.any(|(_, later)| later.process == point.process)
    };
    writes.iter().enumerate().filter(|it| followed(*it)).map(|(_, (_, point))| *point).collect()
}

/// Returns the point and the object of a watch event. `None` for bookmarks and errors.
fn object_of(entry: &Entry) -> Option<(&Point, String)> {
    let EntryKind::Event { point, frame } = &entry.what else { return None };
    let event = log::event(frame)?;
    if event["type"] == "BOOKMARK" || event["type"] == "ERROR" {
        return None;
    }
    let metadata = &event["object"]["metadata"];
    let namespace = metadata["namespace"].as_str().unwrap_or_default();
    Some((point, format!("{} {} {namespace}/{}", point.process, point.resource, metadata["name"].as_str()?)))
}

fn events(entries: &[Entry], replaced: bool) -> Vec<&Point> {
    let events: Vec<(usize, &Point, String)> =
        entries.iter().enumerate().filter_map(|(index, entry)| object_of(entry).map(|(p, o)| (index, p, o))).collect();
    // Index of the next event of each object, from the end of the log.
    let mut next: BTreeMap<&str, usize> = BTreeMap::new();
    let mut points = Vec::new();
    for (index, point, object) in events.iter().rev() {
        let later = next.insert(object, *index);
        let until = later.unwrap_or(entries.len());
        let reacted = || entries[*index..until].iter().filter_map(write).any(|write| write.process == point.process);
        if (!replaced || later.is_some()) && reacted() {
            points.push(*point);
        }
    }
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http::Method;
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::request::Target;

    fn event(text: &str, name: &str) -> EntryKind {
        let frame = json!({ "type": "MODIFIED", "object": { "metadata": { "name": name } } });
        EntryKind::Event { point: text.parse().unwrap(), frame: Bytes::from(frame.to_string()) }
    }

    fn request(text: &str) -> EntryKind {
        let point: Point = text.parse().unwrap();
        let path = format!("/api/v1/namespaces/a/{}", point.resource);
        let target = Target::parse(&Method::POST, &path, "");
        EntryKind::Request { point, target, body: Bytes::new(), code: Some(200), answer: Bytes::new() }
    }

    fn log() -> Log {
        let mut log = Log::default();
        let entries = [
            (0, event("a/event/pods/1", "x")),
            (1, request("a/create/endpoints/1")),
            (2, request("a/update/endpoints/1")),
            (3, event("a/event/pods/2", "x")),
            (4, event("a/event/pods/3", "y")),
            (9_000, request("a/update/endpoints/2")),
            (9_001, request("a/update/leases/1")),
        ];
        for (at, what) in entries {
            log.push(Duration::from_millis(at), what);
        }
        log
    }

    #[rstest]
    #[case(Pattern::Crash, "a/create/endpoints/1=crash-1000")]
    #[case(Pattern::Past, "a/event/pods/1=past-50 a/event/pods/2=past-50 a/event/pods/3=past-50")]
    #[case(Pattern::Unobserved, "a/event/pods/1=skip")]
    fn a_plan_for_each_point(#[case] pattern: Pattern, #[case] expected: &str) {
        let plans: Vec<String> = plans(&log(), pattern).iter().map(ToString::to_string).collect();
        assert_eq!(plans.join(" "), expected);
    }
}
