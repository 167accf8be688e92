//! Informers that keep a [`Snapshot`] up to date.

use std::time::Duration;

use kube_controller_client::Client;
use kube_informer::{Event, HandlerHandle, Informer, NotSynced, wait_for_sync};
use kube_wire::Decode;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{Objects, Snapshot};

/// Running informers and the current snapshot. Dropping this stops the informers.
#[derive(Debug)]
pub(crate) struct ClusterInformers {
    pub(crate) state: watch::Receiver<Snapshot>,
    // Dropping the set aborts the informers.
    _informers: JoinSet<()>,
}

/// Starts informers for all objects of a [`Snapshot`] and waits until they are synced, at most two minutes.
pub(crate) async fn start_informers(client: &Client) -> Result<ClusterInformers, NotSynced> {
    let (state, receiver) = watch::channel(Snapshot::default());
    let mut informers = JoinSet::new();
    let handlers = [
        run(client, &state, &mut informers, |snapshot| &mut snapshot.nodes),
        run(client, &state, &mut informers, |snapshot| &mut snapshot.pods),
        run(client, &state, &mut informers, |snapshot| &mut snapshot.services),
        run(client, &state, &mut informers, |snapshot| &mut snapshot.endpoints),
        run(client, &state, &mut informers, |snapshot| &mut snapshot.slices),
    ];
    wait_for_sync(&handlers, Duration::from_secs(120)).await?;
    Ok(ClusterInformers { state: receiver, _informers: informers })
}

fn run<K>(
    client: &Client,
    state: &watch::Sender<Snapshot>,
    informers: &mut JoinSet<()>,
    of: fn(&mut Snapshot) -> &mut Objects<K>,
) -> HandlerHandle
where
    K: Decode,
{
    let informer = Informer::<K>::builder(client.clone()).build();
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
    informers.spawn(informer.run(CancellationToken::new()));
    handler
}
