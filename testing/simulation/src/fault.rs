//! Faults, and plans of where and when they are injected.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use parse_display::{Display, FromStr};

use crate::point::Point;

/// A fault that is injected at one [`Point`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, FromStr)]
#[display(style = "kebab-case")]
pub enum Fault {
    /// The response has this status code, and the server does not execute the request. 429 and 503 have a `Retry-After`
    /// of one second. At an event, whatever the code, the watch is reset, and the next list or watch of the resource by
    /// this process is answered with 410.
    #[display("reject-{0}")]
    Reject(u16),
    /// The response is 429 with a `Retry-After` of this many seconds, as of an overloaded proxy, and the server does
    /// not execute the request. At an event, the watch is reset.
    #[display("throttle-{0}")]
    Throttle(u32),
    /// The connection is reset before the request reaches the server. At an event, the watch is reset before the event.
    LoseRequest,
    /// The server executes the request, and the connection is reset before the response arrives. At an event, the same
    /// as [`LoseRequest`](Fault::LoseRequest).
    LoseAnswer,
    /// The request or event arrives this many milliseconds late. Later events of the watch do not overtake it.
    #[display("delay-{0}")]
    Delay(u32),
    /// The process is killed after the server has executed the request or after the event has arrived. It is restarted
    /// this many milliseconds later.
    #[display("crash-{0}")]
    Crash(u32),
    /// The process is killed as by [`Crash`](Fault::Crash) and restarted one second later. For ten more seconds, it
    /// reads from an API server that is stuck at this percentage of the revision at the time of the crash.
    #[display("past-{0}")]
    CrashToPast(u8),
    /// The watch is reset before the event. The next list or watch of the resource by this process is delayed until the
    /// resource changes again, at most five seconds, and then answered with 410: the process never observes the event.
    /// At a request, the same as [`LoseAnswer`](Fault::LoseAnswer).
    Skip,
}

/// A fault of the whole cluster or of one process that is injected at a time of the run.
#[derive(Clone, Debug, PartialEq, Eq, Display, FromStr)]
#[display(style = "kebab-case")]
pub enum Disturbance {
    /// All connections of the API server are reset.
    RestartServer,
    /// As [`RestartServer`](Disturbance::RestartServer), and the watch history is lost: watches from older resource
    /// versions are answered with 410.
    RestartServerLost,
    /// The store is restored as by etcd with `--bump-revision`, from the snapshot before the last step at least this
    /// many milliseconds ago; without such a step, nothing happens. The user then pauses for 15 s.
    #[display("restore-{0}")]
    Restore(u32),
    /// As [`Restore`](Disturbance::Restore), but without `--bump-revision`: resource versions are used a second time. A
    /// client can detect this only until the server reaches the versions that the client has seen, so it is never drawn
    /// from a seed.
    #[display("rewind-{0}")]
    Rewind(u32),
    /// Lists and initial events of watches of a resource, given by its plural name, lack all objects for this many
    /// milliseconds; reads of single objects and later events do not. At the start and at the end, the server is restarted
    /// and all earlier versions expire, so that all processes list again.
    #[display("lists-{0}-{1}")]
    WrongLists(#[from_str(regex = ".+")] String, u32),
    /// An admission rule is in force for this many milliseconds.
    #[display("policy-{0}-{1}")]
    Policy(#[from_str(regex = ".+")] Policy, u32),
    /// All requests and events of a process are delayed until this many milliseconds have passed.
    #[display("freeze-{0}-{1}")]
    Freeze(#[from_str(regex = ".+")] String, u32),
    /// The process is killed, and restarted after this many milliseconds.
    #[display("kill-{0}-{1}")]
    Crash(#[from_str(regex = ".+")] String, u32),
    /// All clocks jump ahead by this many milliseconds.
    #[display("jump-{0}")]
    Jump(u32),
    /// The wall clock is offset by this many seconds from virtual time. Replaces an earlier offset.
    #[display("wall-{0}")]
    SetWallClock(i32),
}

/// Admission rules for the resources of [`Rules::is_policed`](crate::Rules::is_policed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, FromStr)]
#[display(style = "kebab-case")]
pub enum Policy {
    /// Adds a label to every object that is created or updated.
    AddLabel,
    /// Rejects creates.
    RejectCreates,
    /// Rejects updates.
    RejectUpdates,
    /// Rejects deletes.
    RejectDeletes,
}

pub(crate) const POLICY_LABEL: &str = "policy.example/added";

/// Error of parsing a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no fault at a point or time, such as a/create/pods/1=lose-answer or @1500=restart-server")]
pub struct ParseError(String);

/// A given set of faults of one run, at points and at times, in place of drawn ones.
///
/// Formatted and parsed as a comma-separated list such as `a/create/endpointslices/3=lose-answer,@1500=restart-server`.
/// Times are in milliseconds since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Faults by point.
    pub faults: BTreeMap<Point, Fault>,
    /// Disturbances with their times since the start of the run, in order of time.
    pub disturbances: Vec<(Duration, Disturbance)>,
}

impl Plan {
    /// Returns the number of faults and disturbances.
    pub fn len(&self) -> usize {
        self.faults.len() + self.disturbances.len()
    }

    /// Returns whether there are no faults and no disturbances.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a fault or disturbance; `None` if the text is none.
    fn parse(&mut self, text: &str) -> Option<()> {
        let (place, what) = text.split_once('=')?;
        if let Some(millis) = place.strip_prefix('@') {
            self.disturbances.push((Duration::from_millis(millis.parse().ok()?), what.parse().ok()?));
        } else {
            self.faults.insert(place.parse().ok()?, what.parse().ok()?);
        }
        Some(())
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (point, fault) in &self.faults {
            write!(f, "{separator}{point}={fault}")?;
            separator = ",";
        }
        for (at, disturbance) in &self.disturbances {
            write!(f, "{separator}@{}={disturbance}", at.as_millis())?;
            separator = ",";
        }
        Ok(())
    }
}

impl std::str::FromStr for Plan {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut plan = Plan::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            plan.parse(part).ok_or_else(|| ParseError(part.to_owned()))?;
        }
        plan.disturbances.sort_by_key(|(at, _)| *at);
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("")]
    #[case("a/create/endpointslices/3=lose-answer")]
    #[case(
        "a/event/pods/3=past-40,b/list/services/1=reject-503,b/list/services/2=throttle-86400,b/update/leases/2=crash-1000"
    )]
    #[case(
        "a/event/pods/3=skip,@0=restart-server,@10=restart-server-lost,@1500=restore-2000,@1510=rewind-200,@1600=jump-30000"
    )]
    #[case(
        "@4=lists-endpointslices-5000,@5=policy-add-label-3000,@6=freeze-a-20000,@7=kill-b-10,@8=wall--3600,@9=wall-60"
    )]
    fn a_plan_is_read_back(#[case] text: &str) {
        assert_eq!(text.parse::<Plan>().unwrap().to_string(), text);
    }

    #[rstest]
    #[case("a/create/pods/1")]
    #[case("a/create/pods/1=explode")]
    #[case("@x=restart-server")]
    #[case("@1=policy-none-3")]
    fn other_texts_are_refused(#[case] text: &str) {
        assert!(text.parse::<Plan>().is_err());
    }
}
