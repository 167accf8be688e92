//! Actions of the reflector and their results, the input and output of its state machine.

use std::time::Duration;

use kube_wire::{Encoding, ResourceVersion};

use crate::RelistCause;

/// Next action of the reflector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Sleep, then call [`Machine::next`] again.
    Wait(Duration),
    /// Wait until a request may be repeated that failed because of the server, but at most for `limit`, then call
    /// [`Machine::next`] again. `requested` is the delay that the server requested.
    Retry { requested: Option<Duration>, limit: Duration },
    /// Open a streaming list: a watch that first sends all objects, at least as new as `version`.
    Stream { version: ResourceVersion, timeout: Duration },
    /// Request a list, or its next page.
    List(ListRequest),
    /// Request the server's current resource version.
    Verify,
    /// Open a watch after `version`.
    Watch { version: ResourceVersion, timeout: Duration },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListRequest {
    /// `None` requests the most recent state, `0` any state, another version a state at least as new.
    pub(super) version: Option<ResourceVersion>,
    /// Maximum number of items; `None` for all.
    pub(super) limit: Option<u32>,
    /// Continue token; `None` for the first page.
    pub(super) continue_token: Option<String>,
}

/// Result of the last request, or progress of the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Observation {
    /// The response has started, in this encoding.
    ResponseStarted(Encoding),
    /// A page of the list was received, and there are more.
    Page { continue_token: String },
    /// The list or streaming list is complete and stored. With `held`, it may lack objects that exist, and the store has
    /// kept these.
    Listed { version: ResourceVersion, held: bool },
    /// The list failed.
    ListFailed(Failure),
    /// The server's current resource version was received.
    Verified { version: ResourceVersion },
    /// The watch or streaming list delivered an event or a bookmark.
    Progress { version: ResourceVersion, added: bool },
    /// The watch or streaming list ended, or its connection broke. The events before that are valid.
    Ended,
    /// The watch or streaming list was rejected or ended with an error.
    Failed(Failure),
}

/// Cause of a failed request, as far as the next one depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The requested version or page is no longer in the server's history (410).
    Expired,
    /// The server has not reached the requested version: etcd was restored, or another replica answered.
    Ahead,
    /// The server is overloaded (429).
    Busy { retry_after: Option<Duration> },
    /// The connection failed or was lost.
    Unreachable,
    /// The server answered with a status of 500 or above, or ended the watch with one.
    ServerError,
    /// The streaming list does not end with a bookmark.
    NoBookmark,
    /// The server does not support the requested encoding (406, 415).
    NotAcceptable,
    /// The response cannot be decoded in its encoding.
    Unreadable,
    /// No failure: the program requested a relist.
    ListRequested(RelistCause),
    /// Anything else.
    Other,
}
