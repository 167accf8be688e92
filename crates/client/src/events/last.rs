//! Events that each sync would repeat.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kube_wire::ObjectKey;

/// Last message about each object, for events about a lasting state: each sync computes the message, and only a new one
/// is recorded as an event.
///
/// ```
/// use kube_controller_client::events::LastMessages;
/// use kube_wire::ObjectKey;
///
/// let (messages, web) = (LastMessages::default(), ObjectKey::new("shop", "web"));
/// assert!(messages.is_new(&web, Some("2 Pods have no address")));
/// assert!(!messages.is_new(&web, Some("2 Pods have no address")));
/// assert!(!messages.is_new(&web, None::<&str>));
/// assert!(messages.is_new(&web, Some("2 Pods have no address")));
/// ```
#[derive(Debug, Default)]
pub struct LastMessages {
    digests: Mutex<HashMap<ObjectKey, u64>>,
}

impl LastMessages {
    /// Returns whether there is a message, and it differs from the last one about `object`. Without a message, the last
    /// one is dropped.
    pub fn is_new(&self, object: &ObjectKey, message: Option<impl Hash>) -> bool {
        let Some(message) = message else {
            self.forget(object);
            return false;
        };
        let mut digest = DefaultHasher::new();
        message.hash(&mut digest);
        let digest = digest.finish();
        self.digests().insert(object.clone(), digest) != Some(digest)
    }

    /// Drops the last message about an object that is gone.
    pub fn forget(&self, object: &ObjectKey) {
        self.digests().remove(object);
    }

    fn digests(&self) -> MutexGuard<'_, HashMap<ObjectKey, u64>> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
