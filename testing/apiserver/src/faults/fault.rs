//! Definition of a fault: its effect, and limits on its hits.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::On;

/// Effect of a fault on a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Effect {
    /// The request is not executed and gets this code, with upstream's `Status` for 404, 410, 429, 500, 503 and 504. A watch
    /// with 410 gets, as from a real server, 200 and an `ERROR` event.
    Reject {
        /// HTTP status code, 400 to 599.
        code: u16,
        /// Value of the header `Retry-After` and of `retryAfterSeconds` in the `Status`.
        #[serde(default)]
        retry_after_seconds: Option<u32>,
    },
    /// The connection is reset, and the request is not executed.
    Reset,
    /// The request is executed, but gets `504 Timeout`.
    ApplyThenTimeout,
    /// The request is executed, but the connection is reset instead of a response.
    ApplyThenReset,
    /// The request is executed after a random delay. Delays of several faults add up.
    DelayRequest {
        /// Minimum delay in milliseconds.
        min_millis: u64,
        /// Maximum delay in milliseconds; the minimum if that is greater.
        max_millis: u64,
    },
    /// Every frame of the response body, and so every batch of watch events, is delayed by a random time. The events of
    /// one watch stay in order, those of different watches may not.
    DelayEvents {
        /// Minimum delay in milliseconds.
        min_millis: u64,
        /// Maximum delay in milliseconds; the minimum if that is greater.
        max_millis: u64,
    },
    /// The response body is sent in pieces of random size, split at any byte, with a pause before each.
    Trickle {
        /// Maximum size of a piece in bytes.
        max_bytes: u32,
        /// Pause before each piece in milliseconds; 0 by default.
        #[serde(default)]
        pause_millis: u64,
    },
    /// Every event of a watch is sent twice in a row.
    RepeatEvents,
    /// A list, and the initial events of a watch, lack objects that exist, with the usual status and resource version: an
    /// empty or truncated list, or one of a proxy or authorizer that hides a namespace. Gets, and the later events of a
    /// watch, are not affected.
    OmitObjects {
        /// Namespace of the missing objects; `None` for those of all namespaces.
        #[serde(default)]
        namespace: Option<String>,
        /// Number of objects that are not omitted: the first ones in the order of the list; 0 by default.
        #[serde(default)]
        keep: usize,
    },
    /// A watch ends some time after its start.
    EndWatch {
        /// Time from the start of the watch in milliseconds.
        after_millis: u64,
        /// What the client receives.
        how: End,
    },
}

/// How [`Effect::EndWatch`] ends a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// A regular end, as after its timeout.
    Cleanly,
    /// An `ERROR` event with `410 Expired`.
    Expired,
    /// A reset of the connection.
    Reset,
}

/// Fault to inject with [`Faults::inject`](super::Faults::inject): its effect, and the requests that it affects.
///
/// ```
/// use std::time::Duration;
/// use kube_dev_apiserver::{Fault, On};
///
/// // The second and third create of a slice get 429 with `Retry-After: 1`.
/// let fault = Fault::too_many_requests(Duration::from_secs(1))
///     .on(On::any().verb("create").resource("endpointslices"))
///     .after(1)
///     .times(2);
/// # let _ = fault;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    pub(super) effect: Effect,
    #[serde(default)]
    pub(crate) on: On,
    /// Number of matching requests before the first hit.
    #[serde(default)]
    pub(super) after: u32,
    /// Maximum number of hits; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<u32>,
    /// Probability of hitting a matching request, 0 to 1.
    #[serde(default = "certain")]
    pub(super) probability: f64,
}

fn certain() -> f64 {
    1.0
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl From<Effect> for Fault {
    fn from(effect: Effect) -> Self {
        Self { effect, on: On::any(), after: 0, times: None, probability: certain() }
    }
}

impl Fault {
    /// Rejects requests with an HTTP status code, see [`Effect::Reject`].
    pub fn reject(code: u16) -> Self {
        Effect::Reject { code, retry_after_seconds: None }.into()
    }

    /// Rejects requests with 410 `Expired`: the requested resource version is too old.
    pub fn expired() -> Self {
        Self::reject(410)
    }

    /// Rejects requests with 429 and a `Retry-After`, rounded down to seconds.
    pub fn too_many_requests(retry_after: Duration) -> Self {
        let seconds = u32::try_from(retry_after.as_secs()).unwrap_or(u32::MAX);
        Effect::Reject { code: 429, retry_after_seconds: Some(seconds) }.into()
    }

    /// Rejects requests with 500 `InternalError`.
    pub fn internal_error() -> Self {
        Self::reject(500)
    }

    /// Rejects requests with 503 `ServiceUnavailable`.
    pub fn unavailable() -> Self {
        Self::reject(503)
    }

    /// Resets connections before the request is executed, see [`Effect::Reset`].
    pub fn reset() -> Self {
        Effect::Reset.into()
    }

    /// Executes requests and responds with `504 Timeout`, see [`Effect::ApplyThenTimeout`].
    pub fn apply_then_timeout() -> Self {
        Effect::ApplyThenTimeout.into()
    }

    /// Executes requests and resets the connection, see [`Effect::ApplyThenReset`].
    pub fn apply_then_reset() -> Self {
        Effect::ApplyThenReset.into()
    }

    /// Delays requests by a random time from `min` to `max`, see [`Effect::DelayRequest`].
    pub fn delay_request(min: Duration, max: Duration) -> Self {
        Effect::DelayRequest { min_millis: millis(min), max_millis: millis(max) }.into()
    }

    /// Delays each frame of a response by a random time from `min` to `max`, see [`Effect::DelayEvents`].
    pub fn delay_events(min: Duration, max: Duration) -> Self {
        Effect::DelayEvents { min_millis: millis(min), max_millis: millis(max) }.into()
    }

    /// Sends responses in pieces of at most `max_bytes`, see [`Effect::Trickle`].
    pub fn trickle(max_bytes: u32, pause: Duration) -> Self {
        Effect::Trickle { max_bytes, pause_millis: millis(pause) }.into()
    }

    /// Sends each watch event twice, see [`Effect::RepeatEvents`].
    pub fn repeat_events() -> Self {
        Effect::RepeatEvents.into()
    }

    /// Omits objects from lists and from the initial events of watches, see [`Effect::OmitObjects`].
    pub fn omit_objects() -> Self {
        Effect::OmitObjects { namespace: None, keep: 0 }.into()
    }

    /// Ends watches some time after their start, see [`Effect::EndWatch`].
    pub fn end_watch(after: Duration, how: End) -> Self {
        Effect::EndWatch { after_millis: millis(after), how }.into()
    }

    /// Limits the fault to the requests that match `on`.
    #[must_use]
    pub fn on(mut self, on: On) -> Self {
        self.on = on;
        self
    }

    /// Sets the number of matching requests before the first hit; 0 by default. A request whose response an earlier
    /// fault replaces does not count for later ones that would replace it too.
    #[must_use]
    pub fn after(mut self, requests: u32) -> Self {
        self.after = requests;
        self
    }

    /// Sets the maximum number of hits; by default there is no limit.
    #[must_use]
    pub fn times(mut self, requests: u32) -> Self {
        self.times = Some(requests);
        self
    }

    /// Sets the probability of hitting a matching request, clamped to 0 to 1; 1 by default. It is drawn from
    /// [`Config::seed`](crate::Config::seed).
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability.clamp(0.0, 1.0);
        self
    }
}

/// Injected fault and its counters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultState {
    /// Id from [`Faults::inject`](super::Faults::inject).
    pub id: u64,
    /// The injected fault.
    pub fault: Fault,
    /// Number of matching requests, except for those after the last possible hit and those that an earlier fault had
    /// answered.
    pub matched: u32,
    /// Number of requests hit.
    pub hits: u32,
}

impl FaultState {
    /// Returns whether the fault has had its effect: as many hits as [`Fault::times`] allows, or one without a limit.
    pub fn is_spent(&self) -> bool {
        self.hits >= self.fault.times.unwrap_or(1)
    }
}

/// Formats one line: id, effect, selector, and the counters of requests.
impl fmt::Display for FaultState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, fault, matched, hits } = self;
        write!(f, "{id}: {:?} on {}", fault.effect, fault.on)?;
        if fault.after > 0 {
            write!(f, ", after {}", fault.after)?;
        }
        write!(f, ": {hits} of {} hits, matching requests: {matched}", fault.times.unwrap_or(1))
    }
}
