//! Events that each sync would repeat.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Last message about an object, for events about a lasting state: each sync computes the message, and only a new one is
/// recorded as an event.
///
/// ```
/// use kube_endpoint_model::LastMessage;
///
/// let mut last = LastMessage::default();
/// assert!(last.is_new(Some("2 Pods have no address")));
/// assert!(!last.is_new(Some("2 Pods have no address")));
/// assert!(!last.is_new(None::<&str>));
/// assert!(last.is_new(Some("2 Pods have no address")));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastMessage {
    /// Digest of the message; 0 without one.
    digest: u64,
}

impl LastMessage {
    /// Returns whether there is a message, and it differs from the last one. Without a message, the last one is dropped.
    pub fn is_new(&mut self, message: Option<impl Hash>) -> bool {
        let digest = message.map_or(0, |message| {
            let mut digest = DefaultHasher::new();
            message.hash(&mut digest);
            digest.finish().max(1)
        });
        std::mem::replace(&mut self.digest, digest) != digest && digest != 0
    }
}
