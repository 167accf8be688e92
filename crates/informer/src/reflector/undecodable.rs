//! Objects whose newest state cannot be decoded.

use std::collections::HashSet;

use kube_wire::{Decode, EventType, ObjectKey, ResourceVersion, Undecodable};

use super::{Reflector, error::ReflectorError, gather::CompleteList, steps::Observation};
use crate::{Index, OnUndecodable, UndecodableObject};

impl<T: Decode, X: Index<T>> Reflector<T, X> {
    /// Returns the choice for an undecodable object, logs it once per version, and counts it.
    ///
    /// # Errors
    ///
    /// The choice is to fail.
    fn report(&mut self, it: &Undecodable) -> Result<OnUndecodable, ReflectorError> {
        self.shared.meter().record(|metrics| metrics.undecodable());
        let choice = (self.on_undecodable)(it);
        let resource = *self.shared.resource();
        if choice == OnUndecodable::Fail {
            let failed = UndecodableObject { resource, object: it.key.clone(), source: it.error.clone() };
            self.failed = Some(failed.clone());
            return Err(ReflectorError::Undecodable(Box::new(failed)));
        }
        if self.undecodable.record(it) {
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
        self.shared.meter().record(|metrics| metrics.undecodable_objects(self.undecodable.len()));
    }

    /// Removes an object that was decoded or deleted from the undecodable ones.
    pub(super) fn clear_undecodable(&mut self, key: impl FnOnce() -> ObjectKey) {
        if self.undecodable.remove(key) {
            self.report_count();
        }
    }

    /// Gathers an undecodable object of a list or streaming list.
    pub(super) fn gather_undecodable(&mut self, event: EventType, it: Undecodable) -> Result<(), ReflectorError> {
        if event == EventType::Deleted
            && let Some(key) = it.key
        {
            self.gathered.remove(key);
            return Ok(());
        }
        let choice = self.report(&it)?;
        match it.key {
            Some(key) => self.gathered.mark_undecodable(key, it.uid, choice == OnUndecodable::Skip),
            None => self.gathered.skip(it.error),
        }
        Ok(())
    }

    /// Applies an event of an undecodable object to the store. A deletion needs only the name. Otherwise the stored
    /// state is removed if the object is to be skipped, or if its uid shows that it belongs to an earlier object of that
    /// name.
    pub(super) fn apply_undecodable(
        &mut self,
        event: EventType,
        it: Undecodable,
    ) -> Result<Observation, ReflectorError> {
        let deleted = event == EventType::Deleted;
        if deleted && let Some(key) = &it.key {
            self.shared.remove_unknown(key, &it.resource_version);
            self.clear_undecodable(|| key.clone());
        } else {
            let is_skipped = self.report(&it)? == OnUndecodable::Skip;
            if let Some(key) = &it.key
                && let Some(stored) = self.shared.stored(key)
                && (is_skipped || !uids_may_match(&stored.uid(), &it.uid))
            {
                self.shared.remove_unknown(key, &it.resource_version);
            }
        }
        if !it.resource_version.is_empty() {
            self.shared.bookmark(&it.resource_version);
        }
        Ok(Observation::Progress { version: it.resource_version, added: event == EventType::Added })
    }

    /// Returns the objects of the complete list, with the last decodable state of undecodable ones.
    ///
    /// # Errors
    ///
    /// [`ReflectorError::Unnamed`] if the list has items and none has a readable name. Something between the server and
    /// this process corrupts the list then, and storing it would remove every object.
    pub(super) fn take_complete(&mut self) -> Result<CompleteList<T>, ReflectorError> {
        let shared = &self.shared;
        let stored = |key: &ObjectKey| shared.stored(key);
        let mut list = self.gathered.take(stored, |stored, uid| uids_may_match(&stored.uid(), uid));
        match list.skipped.take() {
            Some(error) if list.objects.is_empty() && list.undecodable.is_empty() => {
                Err(ReflectorError::Unnamed(Box::new(error)))
            }
            _ => Ok(list),
        }
    }

    /// Removes the skipped objects of a stored list of `version`. Only now, since they exist: the guard would count them
    /// as missing, and reads of them would contradict it.
    pub(super) fn remove_skipped(&self, skipped: &HashSet<ObjectKey>, version: &ResourceVersion) {
        for key in skipped {
            self.shared.remove_unknown(key, version);
        }
    }

    pub(super) fn retain_undecodable(&mut self, listed: &HashSet<ObjectKey>) {
        if self.undecodable.retain(listed) {
            self.report_count();
        }
    }
}

fn uids_may_match(one: &kube_wire::Uid, other: &kube_wire::Uid) -> bool {
    one.is_empty() || other.is_empty() || one == other
}
