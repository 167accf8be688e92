//! The watch of managed Endpoints during a run.

use std::time::Duration;

use kube_endpoint_model::{Endpoints, ObjectKey, Uid};
use kube_informer::{Event, Informer, wait_for_sync};
use kube_wire::Object as _;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::cluster::managed;
use crate::connection::Connection;
use crate::fetch::Authored;

/// Timeout of the first list.
const SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// A write of managed Endpoints.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) key: ObjectKey,
    /// UID before the write; `None` if the object did not exist.
    pub(super) before: Option<Uid>,
    /// UID after the write; `None` if it was deleted, or has lost the label.
    pub(super) after: Option<Uid>,
    /// Field manager of the writer; `None` if it is not known.
    pub(super) by: Option<String>,
}

/// Starts to watch, and waits for the first list. The writes after it are sent to the receiver.
pub(super) async fn watch(
    connection: &Connection,
    namespace: Option<&str>,
    tasks: &mut JoinSet<()>,
) -> anyhow::Result<UnboundedReceiver<Seen>> {
    let (sender, receiver) = unbounded_channel();
    let mut builder = Informer::<Authored<Endpoints>>::builder(connection.client.clone()).label_selector(&managed());
    if let Some(namespace) = namespace {
        builder = builder.namespace(namespace);
    }
    let informer = builder.build();
    let handler = informer.add_handler(move |event: Event<Authored<Endpoints>>| {
        if !event.is_change() {
            return;
        }
        let (before, after) = event.states();
        let author = after.and_then(|object| object.part.0.as_ref());
        let seen = Seen {
            key: event.object().key(),
            before: before.map(|object| object.uid()),
            after: after.map(|object| object.uid()),
            by: author.map(|author| author.manager.to_string()),
        };
        // The run may have ended.
        drop(sender.send(seen));
    });
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync(&[handler.named("endpoints")], SYNC_TIMEOUT).await?;
    Ok(receiver)
}
