//! Handlers that rebuild the state from events alone, and panic on an event that contradicts the events before it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use kube_informer::{Event, Index, Informer};
use tokio::sync::watch;

use crate::{monotonic::Monotonic, thing::Thing};

pub(crate) struct Replay {
    objects: Arc<Mutex<BTreeMap<String, Arc<Thing>>>>,
    /// Changes after each event.
    pub(crate) changed: watch::Receiver<()>,
}

impl Replay {
    pub(crate) fn of<X: Index<Thing>>(informer: &Informer<Thing, X>) -> Self {
        let objects = Arc::new(Mutex::new(BTreeMap::<String, Arc<Thing>>::new()));
        let (change, changed) = watch::channel(());
        let (state, mut monotonic) = (objects.clone(), Monotonic::default());
        informer.add_handler(move |event| {
            monotonic.check(&event);
            let mut state = state.lock().expect("not poisoned");
            let name = event.object().metadata.name.to_string();
            match event {
                Event::Added { object, .. } => assert_eq!(state.insert(name, object), None, "added twice"),
                Event::Updated { old, new, .. } => {
                    // A relist repeats an unchanged object from the same allocation.
                    assert!(Arc::ptr_eq(&old, &new) || old != new, "an update without a change");
                    assert_eq!(state.insert(name, new), Some(old), "`old` is not the state of the event before");
                }
                Event::Deleted { object, tombstone } => {
                    let before = state.remove(&name).expect("the deleted object exists");
                    assert_eq!(before.metadata.uid, object.metadata.uid);
                    assert_eq!(tombstone, before == object, "only a tombstone has the last known state");
                }
            }
            // Released before the send: a task in `wait_for` holds the lock of the channel while it locks the state.
            drop(state);
            change.send_replace(());
        });
        Self { objects, changed }
    }

    /// Returns the state that results from the events, ordered by name.
    pub(crate) fn things(&self) -> Vec<Thing> {
        self.objects.lock().expect("not poisoned").values().map(|thing| (**thing).clone()).collect()
    }
}
