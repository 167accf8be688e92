//! What has happened to all Services of a namespace, or of all.

mod collect;
mod concerned;
#[cfg(feature = "html")]
mod html;
mod list;
mod series;
mod service;
mod text;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{Code, Text};
use kube_endpoints_explain::{ObjectRef, Reason, Settings};
use serde::Serialize;

use crate::timeline::{Cause, Entry, Ordered, Unknown};
use crate::{ReadError, Replay};

#[cfg(feature = "html")]
pub use html::page;
pub use list::List;
pub use series::Point;
pub use text::lines as text;

use collect::Collector;

/// What a summary contains.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Settings of the explanations.
    pub settings: Settings,
    /// End. By default the last change, after which the history may go on without one: [`Archive::end`](crate::Archive::end).
    pub until: Option<Timestamp>,
    /// Length of each list; 10 by default.
    pub top: usize,
    /// Number of Services with a timeline; 10 by default.
    pub timelines: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { settings: Settings::default(), until: None, top: 10, timelines: 10 }
    }
}

/// Outages, slow propagation, writes and flapping Pods of many Services.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The namespace; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Text>,
    /// Beginning.
    pub from: Timestamp,
    /// End: that of the options, or the last change of the history.
    pub until: Timestamp,
    /// Number of Services that existed at any time.
    pub services: usize,
    /// Number of changes of endpoints.
    pub changes: usize,
    /// Gaps of the recording and writes of unknown content, the longest first.
    pub gaps: List<Unknown>,
    /// Times without a reachable endpoint, of Services that had one before; the longest first.
    pub outages: List<Outage>,
    /// Times until the first reachable endpoint, of Services that were created meanwhile or had none at the beginning; the
    /// longest first.
    pub not_yet_ready: List<Outage>,
    /// Pods that became ready, by the time until a slice showed it; the slowest first.
    pub propagation: List<Propagation>,
    /// Writes of slices and Endpoints by Service, most first.
    pub writes: List<Writes>,
    /// Pods whose readiness changed at least twice, those with most changes first.
    pub flapping: List<Flapping>,
    /// Services by time: those with the longest outages first, then those with most changes.
    pub timelines: List<ServiceTimeline>,
}

/// A time without a reachable endpoint: one that is ready, and that a slice shows as ready.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outage {
    /// The Service.
    pub service: ObjectRef,
    /// Beginning; that of the summary if it began before.
    pub from: Timestamp,
    /// End, also by the deletion of the Service; `None` if it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Why it began.
    pub cause: Origin,
}

/// Why a Service has no reachable endpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum Origin {
    /// A change.
    Change(Cause),
    /// What the rules say about the beginning of the summary; `None` if they say nothing.
    Before(Option<Reason>),
}

/// A Pod that became ready, and when a slice showed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Propagation {
    /// The Service.
    pub service: ObjectRef,
    /// Name of the Pod; `None` for an address without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// The address.
    pub address: String,
    /// Time at which it became ready.
    pub ready: Timestamp,
    /// The slice; `None` if none has shown it until the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<ObjectRef>,
    /// Field manager that wrote the slice; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// Time until the slice was seen, or until the end; in milliseconds.
    #[serde(rename = "afterMilliseconds", serialize_with = "crate::timeline::milliseconds")]
    pub after: SignedDuration,
}

/// Number of changes of the slices and Endpoints of a Service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Writes {
    /// The Service.
    pub service: ObjectRef,
    /// Number of changes of slices.
    pub slices: u64,
    /// Number of changes of Endpoints.
    pub endpoints: u64,
    /// The same by field manager, most first.
    pub managers: Vec<ManagerWrites>,
}

/// Number of changes that one field manager made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagerWrites {
    /// The manager; `None` if it is unknown, as that of deletions, and for all after the first sixteen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<Text>,
    /// Number of changes of slices.
    pub slices: u64,
    /// Number of changes of Endpoints.
    pub endpoints: u64,
}

/// A Pod whose readiness changed more than once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flapping {
    /// The Pod.
    pub pod: ObjectRef,
    /// Names of the Services that select it.
    pub services: Vec<String>,
    /// Number of changes of the condition Ready, without those after the deletion began.
    pub changes: u64,
}

/// A Service over the time of the summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceTimeline {
    /// The Service.
    pub service: ObjectRef,
    /// Number of times without a reachable endpoint.
    pub outages: usize,
    /// How long they were together, in milliseconds.
    #[serde(rename = "outageMilliseconds", serialize_with = "crate::timeline::milliseconds")]
    pub down: SignedDuration,
    /// Numbers of endpoints, each from its time until that of the next point. At most 256: those of a long time are reduced to
    /// the worst of each interval.
    pub points: Vec<Point>,
    /// Number of changes of endpoints.
    pub changes: usize,
    /// The last changes, at most 40.
    pub entries: Vec<Entry>,
}

impl Summary {
    /// Returns the summary of all Services of a replay, from its present state on. `namespace` is that of the replay, and `from`
    /// its time.
    ///
    /// The cost depends on the changes and the endpoints of the Services that they concern; the memory, on the state and on
    /// the Services that existed.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if the history is damaged there.
    pub fn of(
        replay: &mut Replay<'_>,
        namespace: Option<Text>,
        from: Timestamp,
        options: &Options,
    ) -> Result<Summary, ReadError> {
        let mut collector = Collector::new(replay, from, options);
        let mut changes = Ordered::new(replay, options.until.unwrap_or(Timestamp::MAX));
        let mut end = options.until.unwrap_or(from).max(from);
        while let Some((change, unknown)) = changes.next()? {
            if let Some(unknown) = unknown {
                collector.set_unknown(unknown);
            }
            end = end.max(change.seen);
            collector.follow(&change);
        }
        Ok(collector.finish(namespace, end))
    }
}

impl Outage {
    /// Returns how long it was, with the end of the summary.
    pub fn duration(&self, end: Timestamp) -> SignedDuration {
        self.until.unwrap_or(end).duration_since(self.from)
    }

    /// Returns the code of the cause; `None` if the rules have none.
    pub fn code(&self) -> Option<Code> {
        match &self.cause {
            Origin::Change(cause) => cause.reason.as_ref().map(|reason| reason.code),
            Origin::Before(reason) => reason.as_ref().map(|reason| reason.code),
        }
    }
}
