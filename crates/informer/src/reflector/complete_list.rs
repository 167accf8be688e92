//! Storing a complete list, after reads of the objects that it lacks.

use kube_wire::ResourceVersion;

use super::{Reflector, error::ReflectorError, gather::Complete};
use crate::{GuardOutcome, guard::Missing, sampling};

impl Reflector {
    /// Puts the gathered objects into the store as one change, after the guard has read some of the objects that they
    /// lack. Returns whether the list is held.
    ///
    /// # Errors
    ///
    /// [`ReflectorError::Unnamed`] if the list has items and none has a readable name. Something between the server and
    /// this process corrupts the list then, and storing it would remove every object.
    pub(super) async fn replace(&mut self, version: &ResourceVersion) -> Result<bool, ReflectorError> {
        let Complete { listed, undecodable, to_skip, skipped } = self.cache.complete();
        if let Some(error) = skipped.filter(|_| listed == 0 && undecodable.is_empty()) {
            return Err(ReflectorError::Unnamed(Box::new(error)));
        }
        let started_at = self.started_at.take();
        self.informer.meter.record_time(started_at, |metrics, took| metrics.listed(listed, took));
        let held = self.store(version).await;
        for key in &to_skip {
            // Only now, since they exist: the guard would count them as missing, and reads of them would contradict it.
            self.cache.remove_unknown(key, version);
        }
        self.undecodable.retain(&undecodable);
        tracing::debug!(resource = %self.informer.resource, objects = listed, %version, "synced");
        Ok(held)
    }

    async fn store(&mut self, version: &ResourceVersion) -> bool {
        // The first list has no other to be compared with.
        let guard = self.informer.guard.filter(|_| self.cache.store().populated);
        let was_held = guard.is_some() && self.informer.is_held();
        let treatment = match guard {
            Some(_) if was_held => Missing::AtMost(0),
            Some(guard) => Missing::AtMost(guard.free),
            None => Missing::Remove,
        };
        let Err(missing) = self.cache.replace(version, treatment) else {
            if was_held {
                self.end_hold(GuardOutcome::Withdrawn);
            }
            return false;
        };
        let answer = sampling::ask(&self.source, &self.informer.resource, &missing).await;
        let treatment = if answer.is_ok() { Missing::Remove } else { Missing::Keep };
        // Only `AtMost` rejects a list.
        let _ = self.cache.replace(version, treatment);
        match answer {
            Ok(()) => {
                tracing::info!(
                    resource = %self.informer.resource, missing = missing.len(),
                    "A list lacks many objects, and none of those that were read exists: it is used"
                );
                self.end_hold(GuardOutcome::Confirmed);
                false
            }
            Err(held) => {
                self.informer.hold(held);
                true
            }
        }
    }

    fn end_hold(&self, outcome: GuardOutcome) {
        if self.informer.end_hold() {
            tracing::info!(resource = %self.informer.resource, "A list is right again: removals go on");
        }
        self.informer.meter.record(|metrics| metrics.guarded(outcome));
    }
}
