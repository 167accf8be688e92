//! Deletion of the content of terminating namespaces, in place of the namespace controller of a real cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::time::sleep;

use crate::cluster::Stored;
use crate::shared::Shared;

/// Empties deleted namespaces after [`Config::namespace_grace`](crate::Config::namespace_grace).
pub(crate) async fn run(shared: Arc<Shared>) {
    let kind = shared.read(|cluster| cluster.kinds().find("", "v1", "namespaces").cloned());
    let Some(mut changes) = kind.and_then(|kind| shared.subscribe(&kind)) else { return };
    let grace = shared.config.namespace_grace;
    let mut waiting = FuturesUnordered::new();
    let mut scheduled = BTreeSet::new();
    loop {
        changes.mark_seen();
        for namespace in shared.read(crate::cluster::Cluster::namespaces_to_empty) {
            if scheduled.insert(namespace.uid.clone()) {
                waiting.push(async move {
                    sleep(grace).await;
                    namespace
                });
            }
        }
        tokio::select! {
            biased;
            () = shared.stopping.cancelled() => return,
            () = changes.changed() => {}
            Some(namespace) = waiting.next() => {
                empty(&shared, &namespace);
                scheduled.remove(&namespace.uid);
            }
        }
    }
}

pub(crate) fn empty(shared: &Shared, namespace: &Stored) {
    if let Err(error) = shared.write(false, |cluster, write| cluster.empty_namespace(namespace, write)) {
        tracing::warn!(%error, namespace = %namespace.name, "namespace stays Terminating: cannot delete its content");
    }
}
