//! Record of all events of a watch, for checks of intermediate states.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Result;
use futures::StreamExt as _;
use kube_controller_client::Body;
use kube_wire::LineSplitter;
use serde_json::Value;
use tokio::{task::JoinSet, time::sleep};

use crate::{Api, Kind, watch};

/// Delay before a failed watch is opened again.
const AGAIN: Duration = Duration::from_millis(20);

/// Events of one kind in all namespaces since the watch was opened. Events during an interruption of the watch are
/// missing. Dropping this ends the watch.
#[derive(Debug)]
pub struct History {
    events: Arc<Mutex<Vec<Value>>>,
    _task: JoinSet<()>,
}

impl History {
    /// Opens a watch that starts at the current resource version.
    ///
    /// # Errors
    /// The list request that returns the resource version, or the watch request, fails.
    pub async fn open(api: &Api, kind: Kind) -> Result<Self> {
        let first = watch::open(api, kind).await?;
        let events = Arc::<Mutex<Vec<Value>>>::default();
        let (log, api) = (Arc::clone(&events), api.clone());
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut next = Ok(first);
            loop {
                match next {
                    Ok(body) => keep(kind, body, &log).await,
                    // The server may be restarting.
                    Err(_) => sleep(AGAIN).await,
                }
                next = watch::open(&api, kind).await;
            }
        });
        Ok(Self { events, _task: task })
    }

    /// Returns the events so far, each as `{"type": …, "object": …}`.
    pub fn all(&self) -> Vec<Value> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the events so far of objects in a namespace.
    pub fn events(&self, namespace: &str) -> Vec<Value> {
        let mut events = self.all();
        events.retain(|event| event["object"]["metadata"]["namespace"] == *namespace);
        events
    }

    /// Returns the maximum number of objects in a namespace that existed at the same time with the same `key`. Objects
    /// whose key is `None` are not counted.
    pub fn most_at_once(&self, namespace: &str, key: impl Fn(&Value) -> Option<String>) -> usize {
        let (mut present, mut most) = (HashMap::<String, String>::new(), 0);
        for event in self.events(namespace) {
            let object = &event["object"];
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            match key(object).filter(|_| event["type"] != "DELETED") {
                Some(key) => drop(present.insert(name, key.clone())),
                None => drop(present.remove(&name)),
            }
            let mut sizes = HashMap::<&str, usize>::new();
            for key in present.values() {
                *sizes.entry(key).or_default() += 1;
            }
            most = most.max(sizes.into_values().max().unwrap_or_default());
        }
        most
    }
}

async fn keep(kind: Kind, mut watch: Body, log: &Mutex<Vec<Value>>) {
    let mut frames = LineSplitter::new(kind.resource().kind);
    while let Some(Ok(chunk)) = watch.next().await {
        frames.push(&chunk);
        while let Ok(Some(frame)) = frames.next_frame() {
            if let Ok(event) = serde_json::from_slice(frame) {
                log.lock().unwrap_or_else(PoisonError::into_inner).push(event);
            }
        }
    }
}
