//! Watches of the objects that the controllers write: one per kind, for all namespaces.
//!
//! The cost of a watch depends on the number of changes. Polling two dozen namespaces often enough would cost more than
//! the controllers under test.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result};
use futures::StreamExt as _;
use kube_controller_client::{Body, WatchParams};
use kube_wire::LineSplitter;
use serde_json::Value;
use tokio::{task::JoinSet, time::sleep};

use crate::{Api, Changes, Kind, Request};

/// Kinds that the endpoint controllers write.
const WRITTEN: [Kind; 3] = [Kind::Endpoints, Kind::EndpointSlice, Kind::Event];

/// Delay before a failed watch is opened again.
const AGAIN: Duration = Duration::from_millis(20);

/// Records the changes of what the controllers write, and keeps the time of [`Changes`], until the tasks are dropped.
pub(crate) async fn record(api: &Api, changes: &Arc<Changes>) -> Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    for kind in WRITTEN {
        let first = open(api, kind).await?;
        let changes = Arc::clone(changes);
        tasks.spawn(follow(api.clone(), kind, first, move |event| match event {
            Some(event) => changes.note(event["object"]["metadata"]["namespace"].as_str().unwrap_or_default()),
            None => changes.note_everywhere(),
        }));
    }
    let changes = Arc::clone(changes);
    tasks.spawn(async move { changes.keep_time().await });
    Ok(tasks)
}

/// Events of one kind in all namespaces since the watch was opened. Events during an interruption of the watch are
/// missing. Dropping this ends the watch.
#[derive(Debug)]
pub(crate) struct History {
    events: Arc<Mutex<Vec<Value>>>,
    _task: JoinSet<()>,
}

impl History {
    /// Opens a watch that starts at the current resource version.
    pub(crate) async fn open(api: &Api, kind: Kind) -> Result<Self> {
        let first = open(api, kind).await?;
        let events = Arc::<Mutex<Vec<Value>>>::default();
        let log = Arc::clone(&events);
        let mut task = JoinSet::new();
        task.spawn(follow(api.clone(), kind, first, move |event| {
            log.lock().unwrap_or_else(PoisonError::into_inner).extend(event);
        }));
        Ok(Self { events, _task: task })
    }

    /// Returns the events so far, each as `{"type": …, "object": …}`.
    pub(crate) fn all(&self) -> Vec<Value> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Opens a watch of a kind in all namespaces, from the current resource version.
async fn open(api: &Api, kind: Kind) -> Result<Body> {
    // Only the resource version of the list is needed.
    let list = api.ok(Request::get(kind.collection("") + "?limit=1")).await?;
    let resource_version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned().into();
    let params = WatchParams { resource_version, ..WatchParams::default() };
    let watch = api.client().watch(&kind.resource(), None, &params).await;
    watch.with_context(|| format!("cannot watch {kind:?}"))
}

/// Calls `each` with each event of a watch, and with `None` after a gap: a watch that ends is opened again.
async fn follow(api: Api, kind: Kind, first: Body, mut each: impl FnMut(Option<Value>)) {
    let mut watch = Ok(first);
    loop {
        match watch {
            Ok(body) => deliver(kind, body, |event| each(Some(event))).await,
            // The server may be restarting.
            Err(_) => sleep(AGAIN).await,
        }
        watch = open(&api, kind).await;
        each(None);
    }
}

/// Delivers the events of one watch until it ends, fails or reports an error, usually with code 410.
async fn deliver(kind: Kind, mut watch: Body, mut each: impl FnMut(Value)) {
    let mut frames = LineSplitter::new(kind.resource().kind);
    while let Some(Ok(chunk)) = watch.next().await {
        frames.push(&chunk);
        while let Ok(Some(frame)) = frames.next_frame() {
            match serde_json::from_slice::<Value>(frame) {
                Ok(event) if event["type"] != "ERROR" => each(event),
                _ => return,
            }
        }
    }
}
