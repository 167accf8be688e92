//! What a fault is and whom it is for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Caller;

/// What happens to a request that a fault hits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Effect {
    /// Answered with this code and a `Status` of upstream's making, and not carried out. A watch that is refused with
    /// 410 is told so as a real server does it: in the stream.
    Refuse {
        /// 429, 500, 503 or any other code from 400 on.
        code: u16,
        /// The `Retry-After` header and the same in the details of the `Status`.
        #[serde(default)]
        retry_after_seconds: Option<u32>,
    },
    /// The connection is reset before the request is carried out.
    Reset,
    /// Carried out, but answered with `504 Timeout`.
    ApplyThenTimeout,
    /// Carried out, but the connection is reset instead of an answer.
    ApplyThenReset,
    /// Carried out after a time between these two.
    DelayRequest {
        /// The shortest delay.
        min_millis: u64,
        /// The longest delay.
        max_millis: u64,
    },
    /// Every piece of an answer, so also every batch of watch events, is held back for a time between these two. The
    /// events of one watch stay in order; those of different kinds overtake each other.
    DelayEvents {
        /// The shortest delay.
        min_millis: u64,
        /// The longest delay.
        max_millis: u64,
    },
    /// The answer arrives in pieces of at most so many bytes, cut anywhere, with a pause before each.
    Trickle {
        /// At most so many bytes a piece; how many is drawn for each.
        max_bytes: u32,
        /// The pause before each piece.
        #[serde(default)]
        pause_millis: u64,
    },
    /// Every event of a watch comes twice, one right after the other.
    RepeatEvents,
    /// A watch ends after this time.
    EndWatch {
        /// Counted from the start of the watch.
        after_millis: u64,
        /// What the client sees of it.
        how: End,
    },
}

/// How a watch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// As by its timeout.
    Cleanly,
    /// With an `ERROR` event that carries `410 Expired`.
    Expired,
    /// In the middle, by a reset of the connection.
    Reset,
}

/// Which requests are meant. Everything that is not said matches all.
///
/// ```
/// use kube_dev_apiserver::On;
///
/// let pods = On::any().verb("list").verb("watch").resource("pods");
/// let one = On::writes().resource("endpointslices").namespace("default").name("web-x7k2p");
/// # let _ = (pods, one);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct On {
    verbs: Vec<String>,
    resource: Option<String>,
    subresource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    user: Option<String>,
    user_agent: Option<String>,
}

impl On {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Every create, update, patch and delete.
    pub fn writes() -> Self {
        ["create", "update", "patch", "delete", "deletecollection"].into_iter().fold(Self::any(), Self::verb)
    }

    /// Requests of this verb; said again, of this one too.
    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        self.verbs.push(verb.to_owned());
        self
    }

    /// Requests about this resource, by its plural.
    #[must_use]
    pub fn resource(mut self, plural: &str) -> Self {
        self.resource = Some(plural.to_owned());
        self
    }

    /// Requests about this part of an object, `status` say; the empty text means the object itself.
    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// Requests in this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Requests about the object of this name.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Requests of this user.
    #[must_use]
    pub fn user(mut self, user: &str) -> Self {
        self.user = Some(user.to_owned());
        self
    }

    /// Requests whose user agent has this in it.
    #[must_use]
    pub fn user_agent(mut self, part: &str) -> Self {
        self.user_agent = Some(part.to_owned());
        self
    }

    pub(crate) fn matches(&self, caller: &Caller<'_>) -> bool {
        let Self { verbs, resource, subresource, namespace, name, user, user_agent } = self;
        let says = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        (verbs.is_empty() || verbs.iter().any(|verb| verb == caller.verb))
            && says(resource, caller.resource)
            && says(subresource, caller.subresource)
            && says(namespace, caller.namespace)
            && says(name, caller.name)
            && says(user, caller.user)
            && user_agent.as_deref().is_none_or(|part| caller.user_agent.contains(part))
    }
}

/// A fault to inject with [`Faults::inject`](super::Faults::inject).
///
/// ```
/// use std::time::Duration;
/// use kube_dev_apiserver::{Fault, On};
///
/// // The second and third creation of a slice are told to come back later.
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
    pub(super) on: On,
    /// Matching requests that are let through first.
    #[serde(default)]
    pub(super) after: u32,
    /// How many requests are hit before the fault is over; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<u32>,
    /// How likely a matching request is hit.
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
    /// Refuses with a code.
    pub fn refuse(code: u16) -> Self {
        Effect::Refuse { code, retry_after_seconds: None }.into()
    }

    /// 410: the version asked for is too old.
    pub fn expired() -> Self {
        Self::refuse(410)
    }

    /// 429 with the time after which the client may come back, in whole seconds.
    pub fn too_many_requests(retry_after: Duration) -> Self {
        let seconds = u32::try_from(retry_after.as_secs()).unwrap_or(u32::MAX);
        Effect::Refuse { code: 429, retry_after_seconds: Some(seconds) }.into()
    }

    /// 500.
    pub fn internal_error() -> Self {
        Self::refuse(500)
    }

    /// 503.
    pub fn unavailable() -> Self {
        Self::refuse(503)
    }

    /// See [`Effect::Reset`].
    pub fn reset() -> Self {
        Effect::Reset.into()
    }

    /// See [`Effect::ApplyThenTimeout`].
    pub fn apply_then_timeout() -> Self {
        Effect::ApplyThenTimeout.into()
    }

    /// See [`Effect::ApplyThenReset`].
    pub fn apply_then_reset() -> Self {
        Effect::ApplyThenReset.into()
    }

    /// See [`Effect::DelayRequest`].
    pub fn delay_request(min: Duration, max: Duration) -> Self {
        Effect::DelayRequest { min_millis: millis(min), max_millis: millis(max) }.into()
    }

    /// See [`Effect::DelayEvents`].
    pub fn delay_events(min: Duration, max: Duration) -> Self {
        Effect::DelayEvents { min_millis: millis(min), max_millis: millis(max) }.into()
    }

    /// See [`Effect::Trickle`].
    pub fn trickle(max_bytes: u32, pause: Duration) -> Self {
        Effect::Trickle { max_bytes, pause_millis: millis(pause) }.into()
    }

    /// See [`Effect::RepeatEvents`].
    pub fn repeat_events() -> Self {
        Effect::RepeatEvents.into()
    }

    /// See [`Effect::EndWatch`].
    pub fn end_watch(after: Duration, how: End) -> Self {
        Effect::EndWatch { after_millis: millis(after), how }.into()
    }

    /// Only for these requests.
    #[must_use]
    pub fn on(mut self, on: On) -> Self {
        self.on = on;
        self
    }

    /// Lets so many matching requests through first.
    #[must_use]
    pub fn after(mut self, requests: u32) -> Self {
        self.after = requests;
        self
    }

    /// Is over when so many requests have been hit.
    #[must_use]
    pub fn times(mut self, requests: u32) -> Self {
        self.times = Some(requests);
        self
    }

    /// Hits a matching request with this probability, drawn from the server's seed.
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability.clamp(0.0, 1.0);
        self
    }
}

/// A fault that is in force, or over.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultState {
    /// What [`Faults::inject`](super::Faults::inject) returned.
    pub id: u64,
    /// The fault as it was injected.
    pub fault: Fault,
    /// How many requests matched.
    pub matched: u32,
    /// How many requests it has hit.
    pub hits: u32,
}
