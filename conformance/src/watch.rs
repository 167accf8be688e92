//! What tells [`Changes`] of changes: one watch per kind for the whole cluster.
//!
//! A watch costs as much as there are changes. Polling two dozen namespaces often enough to measure silence would cost more
//! than the controllers that are to be measured.

use std::{convert::Infallible, sync::Arc};

use anyhow::{Context as _, Result};
use futures::StreamExt as _;
use kube_controller_client::{Body, WatchParams};
use kube_wire::LineSplitter;
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::{Api, Changes, Kind};

/// The kinds that endpoint controllers write.
const WATCHED: [Kind; 3] = [Kind::Endpoints, Kind::EndpointSlice, Kind::Event];

/// The watches, and what keeps the time between changes; dropping this ends them.
#[derive(Debug)]
pub struct Watches {
    _tasks: JoinSet<()>,
}

impl Watches {
    /// Opens the watches. Any change after this has returned is noted.
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

/// Opens a watch of everything that happens from now on.
pub(crate) async fn open(api: &Api, kind: Kind) -> Result<Body> {
    // The page is small because only the version of the list is wanted.
    let resource_version = api.list(kind, "", "?limit=1").await?.metadata.resource_version;
    let params = WatchParams { resource_version, ..WatchParams::default() };
    let watch = api.client().watch(&kind.resource(), None, &params).await;
    watch.with_context(|| format!("cannot watch {kind:?}"))
}

/// Follows a watch for ever. A server ends any watch now and then.
async fn follow(api: &Api, kind: Kind, changes: &Changes, first: Body) -> Result<Infallible> {
    let mut watch = first;
    loop {
        note_all(kind, changes, watch).await;
        watch = open(api, kind).await?;
        // What happened between the two watches is not known.
        changes.note_everywhere();
    }
}

/// Notes the changes of one watch until it ends, however it ends: the next one goes on from a fresh list.
async fn note_all(kind: Kind, changes: &Changes, mut watch: Body) {
    let mut frames = LineSplitter::new(kind.resource().kind);
    while let Some(Ok(chunk)) = watch.next().await {
        frames.push(&chunk);
        while let Ok(Some(frame)) = frames.next_frame() {
            match serde_json::from_slice::<Frame>(frame) {
                Ok(Frame { object: Object { metadata } }) if !metadata.namespace.is_empty() => {
                    changes.note(&metadata.namespace);
                }
                // An error, most likely that history is gone.
                _ => return,
            }
        }
    }
}

/// As much of a watch event as matters here.
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
