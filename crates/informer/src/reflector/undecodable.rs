//! Objects whose newest state cannot be decoded.

use std::{collections::HashSet, sync::Arc};

use kube_wire::{ObjectKey, Undecodable};

use super::{error::ReflectorError, reported::Reported};
use crate::{OnUndecodable, UndecodableObject, undecodable::Choice, untyped::Untyped};

/// The objects of an informer whose newest state cannot be decoded.
pub(super) struct UndecodableObjects {
    informer: Arc<Untyped>,
    choice: Choice,
    reported: Reported,
    /// The object that ends the reflector.
    pub(super) failed: Option<UndecodableObject>,
}

impl UndecodableObjects {
    pub(super) fn new(informer: Arc<Untyped>, choice: Choice) -> Self {
        Self { informer, choice, reported: Reported::default(), failed: None }
    }

    /// Returns the choice for an undecodable object, logs it once per version, and counts it.
    ///
    /// # Errors
    ///
    /// The choice is to fail.
    pub(super) fn report(&mut self, it: &Undecodable) -> Result<OnUndecodable, ReflectorError> {
        self.informer.meter.record(|metrics| metrics.undecodable());
        let choice = (self.choice)(it);
        let resource = self.informer.resource;
        if choice == OnUndecodable::Fail {
            let failed = UndecodableObject { resource, object: it.key.clone(), source: it.error.clone() };
            self.failed = Some(failed.clone());
            return Err(ReflectorError::Undecodable(Box::new(failed)));
        }
        if self.reported.record(it) {
            let (version, err) = (&it.resource_version, &it.error);
            match &it.key {
                Some(key) if choice == OnUndecodable::Skip => {
                    tracing::warn!(%resource, object = %key, %version, %err, "cannot decode an object, it is skipped");
                }
                Some(key) => tracing::warn!(
                    %resource, object = %key, %version, %err,
                    "cannot decode an object, its last known state is kept"
                ),
                None => {
                    tracing::warn!(%resource, %version, %err, "cannot decode an object without a readable name, it is skipped");
                }
            }
        }
        self.report_count();
        Ok(choice)
    }

    fn report_count(&self) {
        self.informer.meter.record(|metrics| metrics.undecodable_objects(self.reported.len()));
    }

    /// Removes an object that was decoded or deleted.
    pub(super) fn clear(&mut self, key: impl FnOnce() -> ObjectKey) {
        if self.reported.remove(key) {
            self.report_count();
        }
    }

    /// Removes all but those of a stored list.
    pub(super) fn retain(&mut self, listed: &HashSet<ObjectKey>) {
        if self.reported.retain(listed) {
            self.report_count();
        }
    }
}
