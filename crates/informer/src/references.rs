//! Comparison of a store with the objects that others refer to.

use kube_wire::{Decode, ObjectKey, Uid};

use crate::{Index, Informer, RelistCause, guard::Reference, informer::Origin, sampling};

impl<T: Decode, X: Index<T>> Informer<T, X> {
    /// Checks that the store has the objects to which others refer, such as the Pods of stored slices. Ends once each object
    /// that the store lacks is found not to exist, or is withheld. An empty uid matches every object.
    ///
    /// For a program that starts: the first list of a store has no other to be compared with. With a
    /// [guard](crate::Builder::guard), if the store lacks more than [`free`](crate::Guard::free) of the objects, some are
    /// read. If one is found or a read fails, a list is [held](crate::Guard), and the missing objects are
    /// [withheld](crate::Lister::is_withheld) until a list has them or ends the hold.
    ///
    /// Does nothing without a guard, or for an informer of a [`ManualSource`](crate::ManualSource).
    pub fn check_references(
        &self,
        references: impl IntoIterator<Item = (ObjectKey, Uid)>,
    ) -> impl Future<Output = ()> + Send {
        let missing = self.lister().read(|objects, _| {
            let is_missing = |it: &Reference| objects.get(&it.key.namespace, &it.key.name).is_none();
            let references = references.into_iter().map(|(key, uid)| Reference { key, uid });
            references.filter(is_missing).collect::<Vec<_>>()
        });
        self.check_missing(missing)
    }

    async fn check_missing(&self, mut missing: Vec<Reference>) {
        let (Some(guard), Some(Origin { source, .. })) = (self.shared.untyped.guard, &self.origin) else { return };
        missing.sort_by(|a, b| a.key.cmp(&b.key));
        missing.dedup_by(|a, b| a.key == b.key);
        if missing.len() <= guard.free {
            return;
        }
        if let Err(held) = sampling::ask(source, &self.shared.untyped.resource, &missing).await
            && self.shared.withhold(&missing)
        {
            self.shared.untyped.hold(held);
            self.shared.untyped.requests.request_list(RelistCause::Confirm, None);
        }
    }
}
