//! Known defects that tests enable, to check that a simulation finds them.

#[cfg(feature = "defects")]
mod enabled;

#[cfg(feature = "defects")]
pub use enabled::{Enabled, enable, is_enabled};

/// Former defect of Kubernetes or of these crates, which tests enable to check that a simulation finds it.
///
/// Code that had the defect checks [`is_enabled`] and, if it is enabled, behaves as before the fix. Without the feature
/// `defects`, no defect can be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// Clients and informers wait for a `Retry-After` of any length, so one response can block a worker for a day.
    LongRetryAfter,
    /// Every sync updates a slice again whose stored content differs from the content sent, for example after a
    /// mutating webhook.
    AlteredWriteRepeated,
    /// The retry of a create whose response was lost uses a new name, which leaves two slices.
    NewNameForRetry,
    /// The mirroring controller ignores the removal of a slice that was already terminating, as the slice controller
    /// does.
    TerminatingMirrorIgnored,
    /// Responses to a controller's own writes are not stored in the informer caches.
    OwnWritesNotCached,
    /// Two states of an object with equal UID and resource version are treated as equal, even after a restore of etcd.
    EqualVersionsEqualContent,
    /// A watch is resumed after a broken connection without a check that the server has reached its resource version.
    WatchNotVerified,
    /// A new leader starts its controllers before its caches contain the writes of the previous leader.
    LeaderWithOldCaches,
    /// [#127370](https://github.com/kubernetes/kubernetes/issues/127370) of Kubernetes: after an update that does not
    /// change the resource version of an Endpoints object, this version is treated as stale, and every later sync
    /// fails.
    NoOpUpdateStaysStale,
    /// [#141592](https://github.com/kubernetes/kubernetes/issues/141592) of Kubernetes: a slice whose deletion is
    /// observed before the response to its create stays in upstream's `EndpointSliceTracker`, and every later sync of
    /// its Service fails.
    GhostSlice,
    /// [#125359](https://github.com/kubernetes/kubernetes/issues/125359) of Kubernetes: the mirroring controller
    /// ignores deletions of slices that it has not written since it started.
    UntrackedMirrorIgnored,
}

/// Returns whether a defect is enabled on this thread; always `false` without the feature `defects`.
#[cfg(not(feature = "defects"))]
#[inline]
pub const fn is_enabled(_: Defect) -> bool {
    false
}
