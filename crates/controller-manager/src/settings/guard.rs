//! Settings of the guard against lists that would remove many objects of a cache.

use std::time::Duration;

use kube_informer::Guard;

/// Limits above which a list is not used before the API server has confirmed it, see [`kube_informer::Guard`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardSettings {
    /// `--guard-fraction`: fraction of the objects of a cache that a list may remove without a second list; 0.5 by
    /// default. 1 or more disables the guard.
    pub fraction: f64,
    /// `--guard-minimum`: number of objects that a list may remove unchecked; 50 by default.
    pub minimum: usize,
    /// `--guard-confirm-after`: time between a held list and the list that confirms it; 15 s by default.
    pub confirm_after: Duration,
}

impl Default for GuardSettings {
    fn default() -> Self {
        let Guard { fraction, minimum, confirm_after, counts: _ } = Guard::<()>::default();
        GuardSettings { fraction, minimum, confirm_after }
    }
}

impl GuardSettings {
    /// Returns the guard of one cache, which counts the objects for which `counts` returns `true`; `None` if it is
    /// disabled.
    pub(crate) fn counting<T>(self, counts: fn(&T) -> bool) -> Option<Guard<T>> {
        let GuardSettings { fraction, minimum, confirm_after } = self;
        (fraction < 1.0).then_some(Guard { fraction, minimum, confirm_after, counts })
    }
}
