//! Audit logs of the seeded clusters.

use std::io::Cursor;

use jiff::{SignedDuration, Timestamp};
use kube_endpoints_history::audit::reads::Reads;
use kube_endpoints_testing::audit;
use serde_json::{Value, json};

/// Time of all plans.
pub(super) const NOW: &str = "2026-11-27T14:00:00Z";
const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// User of the controllers, whose reads show that the log records reads.
const CONTROLLERS: &str = "system:kube-controller-manager";

pub(super) fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

/// Files of an audit log.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    files: Vec<Vec<Value>>,
}

/// A request in a log.
pub(super) fn request(hours_ago: i64, user: &str, verb: &str, path: &str) -> Value {
    event(now() - HOUR * i32::try_from(hours_ago).expect("few hours"), user, verb, "endpoints", path)
}

/// An event about `NAMESPACE/NAME`, each of which can be empty, with the parameters of the request after `?`.
fn event(time: Timestamp, user: &str, verb: &str, resource: &str, path: &str) -> Value {
    let (object, query) = path.split_once('?').unwrap_or((path, ""));
    let (namespace, name) = object.split_once('/').expect("namespace and name");
    let object = json!({"resource": resource, "namespace": namespace, "name": name});
    let uri = format!("/api/v1/{resource}?{query}");
    audit::event(
        verb,
        &json!({"user": {"username": user}, "userAgent": "program/v1", "requestURI": uri, "objectRef": object, "stageTimestamp": time}),
    )
}

impl Log {
    /// A file with the requests of the controllers in each of the hours before now.
    pub(super) fn file(mut self, hours: std::ops::RangeInclusive<i64>, resource: &str, verb: &str) -> Log {
        let time = |hours_ago: i64| now() - SignedDuration::from_hours(hours_ago) - SignedDuration::from_mins(1);
        let number = self.files.len();
        let event = |ago: i64| {
            let mut event = event(time(ago), CONTROLLERS, verb, resource, "/");
            event["auditID"] = json!(format!("{number}-{ago}"));
            event
        };
        self.files.push(hours.rev().map(event).collect());
        self
    }

    /// Adds the last file again, without its first events.
    pub(super) fn copied_from(mut self, event: usize) -> Log {
        self.files.extend(self.files.last().map(|events| events[event..].to_vec()));
        self
    }

    /// A log that is complete for a week.
    pub(super) fn week() -> Log {
        Log::default().file(0..=168, "endpoints", "watch")
    }

    /// Adds requests to the last file.
    pub(super) fn with(mut self, requests: impl IntoIterator<Item = Value>) -> Log {
        self.files.last_mut().expect("a file").extend(requests);
        self
    }

    pub(super) fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        for (number, events) in self.files.iter().enumerate() {
            reads.add(&format!("audit-{number}.log"), Cursor::new(audit::lines(events))).expect("readable");
        }
        reads
    }
}
