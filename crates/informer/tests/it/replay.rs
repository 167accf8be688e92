//! Handlers that rebuild the state from events alone, and fail on any event that does not follow from the ones before.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use kube_informer::{Event, Informer};
use tokio::sync::watch;

use crate::thing::Thing;

pub(crate) struct Replay {
    told: Arc<Mutex<BTreeMap<String, Arc<Thing>>>>,
    /// Says that something was told.
    pub(crate) changed: watch::Receiver<()>,
}

impl Replay {
    pub(crate) fn of<X: Clone + Send + Sync + 'static>(informer: &Informer<Thing, X>) -> Self {
        let told = Arc::new(Mutex::new(BTreeMap::<String, Arc<Thing>>::new()));
        let (change, changed) = watch::channel(());
        let state = told.clone();
        informer.add_handler(move |event| {
            let mut state = state.lock().expect("no panic before");
            let name = event.object().metadata.name.to_string();
            match event {
                Event::Added { object, .. } => assert_eq!(state.insert(name, object), None, "added twice"),
                Event::Updated { old, new, .. } => {
                    // A relist may repeat a stored object: the same allocation, not an equal one.
                    assert!(Arc::ptr_eq(&old, &new) || old != new, "no change");
                    assert_eq!(state.insert(name, new), Some(old), "not the state that was told before");
                }
                Event::Deleted { object, tombstone } => {
                    let before = state.remove(&name).expect("what is deleted was there");
                    assert_eq!(before.metadata.uid, object.metadata.uid);
                    assert_eq!(tombstone, before == object, "a tombstone is the last known state, others are newer");
                }
            }
            // Who waits for a change holds the channel's lock while looking at the state.
            drop(state);
            change.send_replace(());
        });
        Self { told, changed }
    }

    /// What the events make, by name.
    pub(crate) fn things(&self) -> Vec<Thing> {
        self.told.lock().expect("no panic before").values().map(|thing| (**thing).clone()).collect()
    }
}
