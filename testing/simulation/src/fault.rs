//! Faults, and plans of where and when they are injected.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::point::{ParseError, Point};

/// A fault that is injected at one [`Point`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The response has this status code, and the server does not execute the request. 429 and 503 have a `Retry-After`
    /// of one second. At an event, whatever the code, the watch is reset, and the next list or watch of the resource by
    /// this process is answered with 410.
    Reject(u16),
    /// The response is 429 with a `Retry-After` of this many seconds, as of an overloaded proxy, and the server does
    /// not execute the request. At an event, the watch is reset.
    Throttle(u32),
    /// The connection is reset before the request reaches the server. At an event, the watch is reset before the event.
    LoseRequest,
    /// The server executes the request, and the connection is reset before the response arrives. At an event, the same
    /// as [`LoseRequest`](Fault::LoseRequest).
    LoseAnswer,
    /// The request or event arrives this many milliseconds late. Later events of the watch do not overtake it.
    Delay(u32),
    /// The process is killed after the server has executed the request or after the event has arrived. It is restarted
    /// this many milliseconds later.
    Crash(u32),
    /// The process is killed as by [`Crash`](Fault::Crash) and restarted one second later. For ten more seconds, it
    /// reads from an API server that is stuck at this percentage of the revision at the time of the crash.
    CrashToPast(u8),
    /// The watch is reset before the event. The next list or watch of the resource by this process is delayed until the
    /// resource changes again, at most five seconds, and then answered with 410: the process never observes the event.
    /// At a request, the same as [`LoseAnswer`](Fault::LoseAnswer).
    Skip,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Reject(code) => write!(f, "reject-{code}"),
            Fault::Throttle(seconds) => write!(f, "throttle-{seconds}"),
            Fault::LoseRequest => f.write_str("lose-request"),
            Fault::LoseAnswer => f.write_str("lose-answer"),
            Fault::Delay(millis) => write!(f, "delay-{millis}"),
            Fault::Crash(millis) => write!(f, "crash-{millis}"),
            Fault::CrashToPast(percent) => write!(f, "past-{percent}"),
            Fault::Skip => f.write_str("skip"),
        }
    }
}

impl FromStr for Fault {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let number = |name: &str| text.strip_prefix(name)?.parse::<u32>().ok();
        let small = |name: &str| number(name).and_then(|it| u16::try_from(it).ok());
        let fault = match text {
            "lose-request" => Some(Fault::LoseRequest),
            "lose-answer" => Some(Fault::LoseAnswer),
            "skip" => Some(Fault::Skip),
            _ => None,
        };
        let past = || number("past-").and_then(|it| u8::try_from(it).ok());
        fault
            .or_else(|| small("reject-").map(Fault::Reject))
            .or_else(|| number("throttle-").map(Fault::Throttle))
            .or_else(|| number("delay-").map(Fault::Delay))
            .or_else(|| number("crash-").map(Fault::Crash))
            .or_else(|| past().map(Fault::CrashToPast))
            .ok_or_else(|| ParseError::new(text, "a fault, such as lose-answer, reject-503 or crash-1000"))
    }
}

/// A fault of the whole cluster or of one process that is injected at a time of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// All connections of the API server are reset. With `true`, its watch history is lost too: watches from older
    /// resource versions are answered with 410.
    RestartServer(bool),
    /// The store is restored as by etcd with `--bump-revision`, from the snapshot before the last step at least this
    /// many milliseconds ago; without such a step, nothing happens. The user then pauses for 15 s.
    Restore(u32),
    /// As [`Restore`](Disturbance::Restore), but without `--bump-revision`: resource versions are used a second time. A
    /// client can detect this only until the server reaches the versions that the client has seen, so it is never drawn
    /// from a seed.
    Rewind(u32),
    /// Lists and initial events of watches of a resource, given by its plural name, lack all objects for this many
    /// milliseconds; reads of single objects and later events do not. At the start and at the end, the server is restarted
    /// and all earlier versions expire, so that all processes list again.
    WrongLists(String, u32),
    /// An admission rule is in force for this many milliseconds.
    Policy(Policy, u32),
    /// All requests and events of a process are delayed until this many milliseconds have passed.
    Freeze(String, u32),
    /// The process is killed, and restarted after this many milliseconds.
    Crash(String, u32),
    /// All clocks jump ahead by this many milliseconds.
    Jump(u32),
    /// The wall clock is offset by this many seconds from virtual time. Replaces an earlier offset.
    SetWallClock(i32),
}

/// Admission rules for the resources of [`Rules::is_policed`](crate::Rules::is_policed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The label that [`Policy::AddLabel`] adds.
pub(crate) const POLICY_LABEL: &str = "policy.example/added";

impl Policy {
    const ALL: [(Policy, &str); 4] = [
        (Policy::AddLabel, "add-label"),
        (Policy::RejectCreates, "reject-creates"),
        (Policy::RejectUpdates, "reject-updates"),
        (Policy::RejectDeletes, "reject-deletes"),
    ];
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Policy::ALL.iter().find(|(policy, _)| policy == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disturbance::RestartServer(false) => f.write_str("restart-server"),
            Disturbance::RestartServer(true) => f.write_str("restart-server-lost"),
            Disturbance::Restore(millis) => write!(f, "restore-{millis}"),
            Disturbance::Rewind(millis) => write!(f, "rewind-{millis}"),
            Disturbance::WrongLists(resource, millis) => write!(f, "lists-{resource}-{millis}"),
            Disturbance::Policy(policy, millis) => write!(f, "policy-{policy}-{millis}"),
            Disturbance::Freeze(process, millis) => write!(f, "freeze-{process}-{millis}"),
            Disturbance::Crash(process, millis) => write!(f, "kill-{process}-{millis}"),
            Disturbance::Jump(millis) => write!(f, "jump-{millis}"),
            Disturbance::SetWallClock(seconds) => write!(f, "wall-{seconds}"),
        }
    }
}

impl FromStr for Disturbance {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parse = || {
            let (name, number) = text.rsplit_once('-')?;
            let millis = number.parse::<u32>();
            Some(match name {
                _ if text == "restart-server" => Disturbance::RestartServer(false),
                _ if text == "restart-server-lost" => Disturbance::RestartServer(true),
                "restore" => Disturbance::Restore(millis.ok()?),
                "rewind" => Disturbance::Rewind(millis.ok()?),
                "jump" => Disturbance::Jump(millis.ok()?),
                // In `wall--3600`, the last `-` is the sign.
                "wall" | "wall-" => Disturbance::SetWallClock(text.strip_prefix("wall-")?.parse().ok()?),
                _ => {
                    let (what, which) = name.split_once('-')?;
                    match what {
                        "policy" => {
                            let policy = Policy::ALL.iter().find(|(_, name)| *name == which)?.0;
                            Disturbance::Policy(policy, millis.ok()?)
                        }
                        "lists" => Disturbance::WrongLists(which.to_owned(), millis.ok()?),
                        "freeze" => Disturbance::Freeze(which.to_owned(), millis.ok()?),
                        "kill" => Disturbance::Crash(which.to_owned(), millis.ok()?),
                        _ => return None,
                    }
                }
            })
        };
        parse().ok_or_else(|| ParseError::new(text, "a disturbance, such as restore-2000 or freeze-a-20000"))
    }
}

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

impl FromStr for Plan {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut plan = Plan::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let error = || ParseError::new(part, "a fault at a point or time, such as a/create/pods/1=lose-answer");
            let (place, what) = part.split_once('=').ok_or_else(error)?;
            match place.strip_prefix('@') {
                Some(millis) => {
                    let at = Duration::from_millis(millis.parse().map_err(|_| error())?);
                    plan.disturbances.push((at, what.parse()?));
                }
                None => {
                    plan.faults.insert(place.parse()?, what.parse()?);
                }
            }
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
