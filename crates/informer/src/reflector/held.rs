//! Lists that would remove much of the store.

use std::{collections::HashSet, sync::Arc, time::Duration};

use display_full_error::DisplayFullErrorExt as _;
use kube_wire::{Decode, ObjectKey, ResourceVersion};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{
    Reflector,
    error::ReflectorError,
    gather::CompleteList,
    steps::{Failure, Observation},
};
use crate::{
    GuardOutcome, Index,
    guard::{Removal, Sample},
};

/// Maximum time of the reads that confirm a list. Meanwhile no watch is open.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// A list that is not stored before reads of the objects that it lacks confirm it.
pub(super) struct HeldList<T> {
    removal: Removal,
    /// The objects as listed, without the own writes that are newer: those are applied when the list is stored.
    objects: Vec<Arc<T>>,
    undecodable: HashSet<ObjectKey>,
    to_skip: HashSet<ObjectKey>,
    version: ResourceVersion,
}

impl<T: Decode, X: Index<T>> Reflector<T, X> {
    /// Puts the gathered objects into the store as one change and returns `stored`, or holds the list if it exceeds the
    /// guard.
    pub(super) fn replace(
        &mut self,
        version: &ResourceVersion,
        stored: Observation,
    ) -> Result<Observation, ReflectorError> {
        let CompleteList { objects, undecodable, to_skip, .. } = self.take_complete()?;
        let listed = objects.len();
        self.shared.meter().listed(listed, self.started_at.take());
        let is_confirming = self.machine.is_confirming();
        // The first list is not checked.
        let as_listed = self.guard.filter(|_| self.shared.lister().is_populated()).map(|_| objects.clone());
        let Err(removal) = self.shared.replace(objects, version.clone(), self.guard.as_ref()) else {
            tracing::debug!(resource = %self.shared.resource(), objects = listed, %version, "synced");
            self.remove_skipped(&to_skip, version);
            self.retain_undecodable(&undecodable);
            if is_confirming {
                tracing::info!(
                    resource = %self.shared.resource(), objects = listed,
                    "Another list needs no confirmation, and is stored"
                );
                self.shared.meter().guarded(GuardOutcome::Withdrawn);
            }
            return Ok(stored);
        };
        let (most, missing) = (removal.is_exceeded, removal.counts.missing > 0);
        if most {
            self.shared.hold(removal.counts);
        }
        if most && !is_confirming {
            tracing::warn!(
                resource = %self.shared.resource(), stored = removal.counts.stored, missing = removal.counts.missing,
                changed = removal.counts.changed, listed, %version,
                confirm_after = ?self.guard.map(|guard| guard.confirm_after).unwrap_or_default(),
                "A list would remove most of the cache and is held: the controllers work on the previous state until \
                 another list confirms it"
            );
            self.shared.meter().guarded(GuardOutcome::Held);
        }
        let held = |objects| HeldList { removal, objects, undecodable, to_skip, version: version.clone() };
        self.held = as_listed.map(held);
        Ok(Observation::Held { most, missing })
    }

    /// Sleeps before a list that confirms a held one: for `longest`, or only for `shortest` if a list is requested or
    /// another informer detects a restore of etcd.
    ///
    /// Takes the request: while a list is held, every list is of the most recent state, which is new enough for all
    /// requests before it.
    pub(super) async fn wait_to_confirm(&self, shortest: Duration, longest: Duration) {
        let start = Instant::now();
        tokio::select! {
            biased;
            () = sleep_until(start + longest) => return,
            _ = self.shared.requests().list_requested() => {}
            () = self.restores.detected() => {}
        }
        sleep_until(start + shortest).await;
    }

    /// Reads some of the objects that the held list lacks, until one contradicts it.
    pub(super) async fn probe(&mut self) {
        let Some(held) = self.held.take() else {
            self.observe(Observation::ListFailed(Failure::Other));
            return;
        };
        let deadline = Instant::now() + PROBE_TIMEOUT;
        for Sample { key, uid } in &held.removal.samples {
            let contradiction =
                match timeout_at(deadline, self.source.get::<T>(self.shared.resource(), &key.namespace, &key.name))
                    .await
                {
                    Ok(Ok(found)) if found.uid() == *uid => "it exists".to_owned(),
                    Ok(Ok(_)) => continue,
                    Ok(Err(error)) if error.is_not_found() => continue,
                    Ok(Err(error)) => error.display_full().to_string(),
                    Err(elapsed) => elapsed.to_string(),
                };
            self.shared.hold(held.removal.counts);
            tracing::warn!(
                resource = %self.shared.resource(), object = %key, missing = held.removal.counts.missing, reason = contradiction,
                "A list that lacks an object is not confirmed and stays held: the controllers work on the previous state"
            );
            self.shared.meter().guarded(GuardOutcome::Contradicted);
            self.observe(Observation::Probed { gone: false });
            return;
        }
        self.held = Some(held);
        self.observe(Observation::Probed { gone: true });
    }

    /// Stores the held list.
    pub(super) fn store_held(&mut self) {
        let Some(HeldList { removal, objects, undecodable, to_skip, version }) = self.held.take() else {
            self.observe(Observation::ListFailed(Failure::Other));
            return;
        };
        tracing::warn!(
            resource = %self.shared.resource(), objects = objects.len(), %version, missing = removal.counts.missing,
            changed = removal.counts.changed, "A list that removes many objects of the cache is confirmed and stored"
        );
        // Without a guard, every list is stored.
        let _ = self.shared.replace(objects, version.clone(), None);
        self.remove_skipped(&to_skip, &version);
        self.retain_undecodable(&undecodable);
        self.shared.meter().guarded(GuardOutcome::Confirmed);
        self.observe(Observation::Listed { version });
    }
}
