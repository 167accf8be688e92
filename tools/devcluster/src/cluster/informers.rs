//! Informers that keep a [`Snapshot`] up to date.

use std::time::Duration;

use kube_controller_client::Client;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_informer::{Event, HandlerHandle, Informer, NotSynced, wait_for_sync};
use kube_wire::{Decode, Resource};
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{Objects, Snapshot};

/// Starts informers for all objects of a [`Snapshot`] in `tasks`, and waits until they are synced, at most two minutes. Returns
/// the current snapshot.
///
/// The caller shuts `tasks` down before the server ends, which would fail their requests: dropping them does not wait.
pub(crate) async fn start_informers(
    client: &Client,
    tasks: &mut JoinSet<()>,
) -> Result<watch::Receiver<Snapshot>, NotSynced> {
    let (state, receiver) = watch::channel(Snapshot::default());
    let handlers = [
        run(client, Node::RESOURCE, &state, tasks, |snapshot| &mut snapshot.nodes),
        run(client, Pod::RESOURCE, &state, tasks, |snapshot| &mut snapshot.pods),
        run(client, Service::RESOURCE, &state, tasks, |snapshot| &mut snapshot.services),
        run(client, Endpoints::RESOURCE, &state, tasks, |snapshot| &mut snapshot.endpoints),
        run(client, EndpointSlice::RESOURCE, &state, tasks, |snapshot| &mut snapshot.slices),
    ];
    wait_for_sync(&handlers, Duration::from_secs(120)).await?;
    Ok(receiver)
}

fn run<K>(
    client: &Client,
    resource: Resource,
    state: &watch::Sender<Snapshot>,
    tasks: &mut JoinSet<()>,
    of: fn(&mut Snapshot) -> &mut Objects<K>,
) -> HandlerHandle
where
    K: Decode,
{
    let informer = Informer::<K>::builder(client.clone()).resource(resource).build();
    let state = state.clone();
    let handler = informer.add_handler(move |event| {
        state.send_modify(|snapshot| {
            let objects = of(snapshot);
            let object = event.object();
            match &event {
                Event::Deleted { .. } => drop(objects.remove(&object.key())),
                Event::Added { .. } | Event::Updated { .. } => drop(objects.insert(object.key(), object.clone())),
            }
        });
    });
    tasks.spawn(informer.run(CancellationToken::new()));
    handler
}
