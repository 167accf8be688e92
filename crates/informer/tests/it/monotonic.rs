//! A check of the resource versions that one handler receives.

use std::collections::HashMap;

use kube_informer::Event;
use kube_wire::{Object as _, ObjectKey, ResourceVersion};
use rstest::rstest;

use crate::{log::thing, thing::Thing};

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

fn added(version: u64) -> Event<Thing> {
    Event::Added { object: thing("web", version).into(), initial: false, relisted: false }
}

fn updated(version: u64, relisted: bool) -> Event<Thing> {
    Event::Updated { old: thing("web", 1).into(), new: thing("web", version).into(), relisted }
}

fn deleted(version: u64, tombstone: bool) -> Event<Thing> {
    Event::Deleted { object: thing("web", version).into(), tombstone }
}

#[rstest]
#[case::grows(vec![added(1), updated(2, false), deleted(3, false), added(4)], true)]
#[case::resync(vec![added(2), updated(2, false)], true)]
#[case::restored(vec![added(9), updated(5, true), updated(6, false)], true)]
#[case::deleted_by_a_restore(vec![added(9), deleted(9, true), added(5)], true)]
#[case::goes_back(vec![added(2), updated(1, false)], false)]
#[case::goes_back_after_a_deletion(vec![added(2), deleted(3, false), added(1)], false)]
#[case::goes_back_after_a_list(vec![updated(6, true), updated(5, false)], false)]
fn panics_if_a_watch_event_lowers_the_version(#[case] events: Vec<Event<Thing>>, #[case] passes: bool) {
    let check = || {
        let mut monotonic = Monotonic::default();
        for event in &events {
            monotonic.check(event);
        }
    };
    assert_eq!(std::panic::catch_unwind(check).is_ok(), passes);
}
