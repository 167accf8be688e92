//! Watches that record changes in [`Changes`]: one per kind, for all namespaces.
//!
//! The cost of a watch depends on the number of changes. Polling two dozen namespaces often enough would cost more than
//! the controllers under test.

use std::{convert::Infallible, sync::Arc};

use anyhow::{Context as _, Result};
use futures::StreamExt as _;
use kube_controller_client::{Body, WatchParams};
use kube_wire::LineSplitter;
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::{Api, Changes, Kind};

/// Kinds that the endpoint controllers write.
const WATCHED: [Kind; 3] = [Kind::Endpoints, Kind::EndpointSlice, Kind::Event];

/// Tasks of the watches and of the clock of [`Changes`]. Dropping this ends them.
#[derive(Debug)]
pub struct Watches {
    _tasks: JoinSet<()>,
}

impl Watches {
    /// Opens the watches. Changes after this has returned are recorded.
    ///
    /// # Errors
    /// A list or watch request fails.
    pub async fn open(api: &Api, changes: &Arc<Changes>) -> Result<Self> {
        let mut tasks = JoinSet::new();
        for kind in WATCHED {
            let first = open(api, kind).await?;
            let (api, changes) = (api.clone(), Arc::clone(changes));
            tasks.spawn(async move {
                let Err(error) = follow(&api, kind, &changes, first).await;
                changes.blind(format!("the watch of {kind:?} failed: {error:#}"));
            });
        }
        let changes = Arc::clone(changes);
        tasks.spawn(async move { changes.keep_time().await });
        Ok(Self { _tasks: tasks })
    }
}

/// Opens a watch of a kind in all namespaces, from the current resource version.
pub(crate) async fn open(api: &Api, kind: Kind) -> Result<Body> {
    // Only the resource version of the list is needed.
    let resource_version = api.list(kind, "", "?limit=1").await?.metadata.resource_version.into();
    let params = WatchParams { resource_version, ..WatchParams::default() };
    let watch = api.client().watch(&kind.resource(), None, &params).await;
    watch.with_context(|| format!("cannot watch {kind:?}"))
}

/// Follows a watch, and opens it again when the server ends it. Returns only errors.
async fn follow(api: &Api, kind: Kind, changes: &Changes, first: Body) -> Result<Infallible> {
    let mut watch = first;
    loop {
        note_all(kind, changes, watch).await;
        watch = open(api, kind).await?;
        // Changes between the two watches are not observed.
        changes.note_everywhere();
    }
}

/// Records the changes of one watch until it ends or fails: in both cases the next one starts from a new list.
async fn note_all(kind: Kind, changes: &Changes, mut watch: Body) {
    let mut frames = LineSplitter::new(kind.resource().kind);
    while let Some(Ok(chunk)) = watch.next().await {
        frames.push(&chunk);
        while let Ok(Some(frame)) = frames.next_frame() {
            match serde_json::from_slice::<Frame>(frame) {
                Ok(Frame { object: Object { metadata } }) if !metadata.namespace.is_empty() => {
                    changes.note(&metadata.namespace);
                }
                // An error event, usually with code 410.
                _ => return,
            }
        }
    }
}

/// Subset of a watch event.
#[derive(Deserialize)]
struct Frame {
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    namespace: String,
}
