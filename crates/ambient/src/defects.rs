//! Known defects that a test switches on, to see whether a simulation finds them.

#[cfg(feature = "defects")]
mod enabled;

#[cfg(feature = "defects")]
pub use enabled::{Enabled, enable, has};

/// A defect that Kubernetes or these crates had.
///
/// The code that had it asks [`has`] and behaves as before the fix. Without the feature `defects` no defect can be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// A `Retry-After` of any length is obeyed by clients and informers, so that one answer stops a worker for a day.
    LongRetryAfter,
    /// A slice that the server stored with other content than was sent is written again by every sync.
    AlteredWriteRepeated,
    /// The retry of a create whose answer was lost uses a new name, so that there are two slices.
    NewNameForRetry,
    /// The mirroring controller ignores the end of the deletion of a slice, as the slice controller does.
    TerminatingMirrorIgnored,
    /// The answers to own writes are not put into the caches.
    OwnWritesNotCached,
    /// Two states of an object are taken to be equal if uid and resource version are, although the store was restored.
    EqualVersionsEqualContent,
    /// A watch is continued after a broken connection without a check that the server is not behind its version.
    WatchNotVerified,
    /// A new leader starts its controllers before its caches have the writes of the previous leader.
    LeaderWithOldCaches,
    /// kubernetes/kubernetes#127370: an update that leaves the resource version of an Endpoints object as it is makes this very
    /// version count as stale, and every later sync fails.
    NoOpUpdateStaysStale,
    /// kubernetes/kubernetes#141592: a slice whose deletion arrives before the answer to its create stays expected for ever, and
    /// every later sync of its Service fails.
    GhostSlice,
    /// kubernetes/kubernetes#125359: the mirroring controller ignores the deletion of slices that it has not written since its
    /// start.
    UntrackedMirrorIgnored,
}

/// Returns whether a defect is enabled on this thread; always `false` without the feature `defects`.
#[cfg(not(feature = "defects"))]
#[inline]
pub const fn has(_: Defect) -> bool {
    false
}
