//! Why each key is synced.

use std::collections::HashMap;

use kube_endpoint_model::ObjectKey;

use crate::ledger::Cause;

/// Name of a controller, and key of a Service.
type Id = (&'static str, ObjectKey);

/// Causes of the syncs that are queued or run, except of first syncs and retries.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    queued: HashMap<Id, Cause>,
    /// Apart from those that are queued: the plan of a sync that runs may not contain a change that queues its key again.
    /// A sync that ends without a comparison leaves its cause to the next one.
    running: HashMap<Id, Cause>,
}

impl Causes {
    /// Records that a change queues a key. Call it before the key is queued.
    pub(crate) fn changed(&mut self, controller: &'static str, key: &ObjectKey) {
        self.queued.insert((controller, key.clone()), Cause::Change);
    }

    /// Records that a key is queued for a comparison only. Call it before the key is queued.
    pub(crate) fn compared(&mut self, controller: &'static str, key: &ObjectKey) {
        self.queued.entry((controller, key.clone())).or_insert(Cause::Comparison);
    }

    /// Records that the sync of a key starts. Call it before the sync reads its caches.
    pub(crate) fn start(&mut self, controller: &'static str, key: &ObjectKey) {
        if let Some((id, cause)) = self.queued.remove_entry(&(controller, key.clone())) {
            let running = self.running.entry(id).or_insert(cause);
            if cause == Cause::Change {
                *running = cause;
            }
        }
    }

    /// Removes and returns the cause of the sync that runs.
    pub(crate) fn take(&mut self, controller: &'static str, key: &ObjectKey) -> Cause {
        self.running.remove(&(controller, key.clone())).unwrap_or_default()
    }

    /// Drops the causes of all keys for which `keeps` returns `false`.
    pub(crate) fn retain(&mut self, keeps: impl Fn(&str, &ObjectKey) -> bool) {
        for causes in [&mut self.queued, &mut self.running] {
            causes.retain(|(controller, key), _| keeps(controller, key));
        }
    }
}
