//! Cache of the RBAC policy, rebuilt after a change of a role or a binding.

use std::sync::{Arc, Mutex, PoisonError};

use super::Policy;

/// Cached policy, with the last change of each RBAC kind when it was built.
#[derive(Debug, Default)]
pub(crate) struct PolicyCache {
    cached: Mutex<Option<([u64; 4], Arc<Policy>)>>,
}

impl PolicyCache {
    /// Drops the cached policy. Needed after a restore, which sets revisions back: equal revisions no longer mean equal
    /// objects.
    pub(crate) fn clear(&self) {
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the policy of the given versions, from the cache or from `build`.
    pub(super) fn get(&self, versions: [u64; 4], build: impl FnOnce() -> Policy) -> Arc<Policy> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some((of, policy)) if *of == versions => Arc::clone(policy),
            _ => {
                let policy = Arc::new(build());
                *cached = Some((versions, Arc::clone(&policy)));
                policy
            }
        }
    }
}
