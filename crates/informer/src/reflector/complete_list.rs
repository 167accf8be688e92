//! Storing a complete list, after reads of the objects that it lacks.

use std::sync::Arc;

use kube_wire::{Decode, ResourceVersion};

use super::{Reflector, error::ReflectorError, gather::CompleteList};
use crate::{GuardOutcome, Index, guard::Missing, sampling};

impl<T: Decode, X: Index<T>> Reflector<T, X> {
    /// Puts the gathered objects into the store as one change, after the guard has read some of the objects that they
    /// lack. Returns whether the list is held.
    pub(super) async fn replace(&mut self, version: &ResourceVersion) -> Result<bool, ReflectorError> {
        let CompleteList { objects, undecodable, to_skip, .. } = self.take_complete()?;
        let listed = objects.len();
        let started_at = self.started_at.take();
        self.shared.meter().record_time(started_at, |metrics, took| metrics.listed(listed, took));
        let held = self.store(objects, version).await;
        self.remove_skipped(&to_skip, version);
        self.retain_undecodable(&undecodable);
        tracing::debug!(resource = %self.shared.resource(), objects = listed, %version, "synced");
        Ok(held)
    }

    async fn store(&self, objects: Vec<Arc<T>>, version: &ResourceVersion) -> bool {
        // The first list has no other to be compared with.
        let Some(guard) = self.shared.guard().filter(|_| self.shared.lister().is_populated()) else {
            self.shared.replace_by(objects, version.clone());
            return false;
        };
        let was_held = self.shared.is_held();
        let limit = if was_held { 0 } else { guard.free };
        let checked = self.shared.replace(objects.clone(), version.clone(), Missing::AtMost(limit));
        let Err(missing) = checked else {
            if was_held {
                self.end_hold(GuardOutcome::Withdrawn);
            }
            return false;
        };
        let answer = sampling::ask::<T>(&self.source, self.shared.resource(), &missing).await;
        let treatment = if answer.is_ok() { Missing::Remove } else { Missing::Keep };
        // Only `AtMost` rejects a list.
        let _ = self.shared.replace(objects, version.clone(), treatment);
        match answer {
            Ok(()) => {
                tracing::info!(
                    resource = %self.shared.resource(), missing = missing.len(),
                    "A list lacks many objects, and none of those that were read exists: it is used"
                );
                self.end_hold(GuardOutcome::Confirmed);
                false
            }
            Err(held) => {
                self.shared.hold(held);
                true
            }
        }
    }

    fn end_hold(&self, outcome: GuardOutcome) {
        if self.shared.end_hold() {
            tracing::info!(resource = %self.shared.resource(), "A list is right again: removals go on");
        }
        self.shared.meter().record(|metrics| metrics.guarded(outcome));
    }
}
