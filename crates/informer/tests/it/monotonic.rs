//! A check of the resource versions that one handler receives.

use std::collections::HashMap;

use kube_informer::Event;
use kube_wire::{Object as _, ObjectKey, ResourceVersion};

use crate::thing::Thing;

/// Last resource version of each object that a handler received.
///
/// Events of a watch must not lower it. A list may: the store of the API server may have been restored from a backup.
#[derive(Debug, Default)]
pub(crate) struct Monotonic(HashMap<ObjectKey, ResourceVersion>);

impl Monotonic {
    /// Checks the version of an event and remembers it.
    ///
    /// # Panics
    ///
    /// If the event is from a watch and older than the last one of the object.
    pub(crate) fn check(&mut self, event: &Event<Thing>) {
        let object = event.object();
        let (key, version) = (object.key(), object.resource_version());
        if event.is_from_list() {
            match event {
                Event::Deleted { .. } => self.0.remove(&key),
                Event::Added { .. } | Event::Updated { .. } => self.0.insert(key, version),
            };
            return;
        }
        if let Some(before) = self.0.insert(key, version.clone()) {
            let (name, went_back) = (object.name(), before > version);
            assert!(!went_back, "a handler received {name} at version {version} after version {before}");
        }
    }
}
