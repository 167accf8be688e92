//! Events about lists that the guard holds.

use futures::future::join_all;
use kube_controller_client::Client;
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_informer::HeldList;
use kube_lease_election::LeaseName;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Resource and held list of each cache.
pub(crate) type HeldLists = Vec<(&'static str, watch::Receiver<Option<HeldList>>)>;

/// Recorder of events about the Lease, which is the object of this program that every installation with several
/// replicas has.
#[derive(Clone)]
pub(crate) struct LeaseEvents {
    pub(crate) client: Client,
    pub(crate) recorder: EventRecorder,
    pub(crate) lease: LeaseName,
}

impl LeaseEvents {
    /// Records an event when a list of a cache gets held, or is held already, until `stop` is cancelled.
    pub(crate) async fn report(self, lists: HeldLists, stop: CancellationToken) {
        let reports = lists.into_iter().map(|(resource, list)| self.report_one(resource, list));
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            // The caches outlive their reports.
            _ = join_all(reports) => stop.cancelled().await,
        }
    }

    async fn report_one(&self, resource: &str, mut list: watch::Receiver<Option<HeldList>>) {
        while let Ok(held) = list.wait_for(Option::is_some).await.map(|held| *held) {
            if let Some(held) = held {
                self.record(resource, held).await;
            }
            // A list that is held again before another one was stored is the same incident.
            if list.wait_for(Option::is_none).await.is_err() {
                return;
            }
        }
    }

    async fn record(&self, resource: &str, held: HeldList) {
        let HeldList { stored, missing, changed } = held;
        let LeaseName { namespace, name } = &self.lease;
        let mut lease = ObjectReference::of("coordination.k8s.io/v1", "Lease");
        (lease.namespace, lease.name) = (namespace.clone(), name.clone());
        // `kubectl describe` finds events by uid. An event without it is better than none.
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}");
        if let Ok(found) = self.client.get_json(&path).await {
            lease.uid = found["metadata"]["uid"].as_str().unwrap_or_default().into();
        }
        let removed = missing + changed;
        let message = format!(
            "A list of {resource} would remove {removed} of {stored} objects ({missing} missing, {changed} changed) and \
             is held; the controllers work on the previous state until another list confirms it"
        );
        self.recorder.event(&lease, EventType::Warning, "ListHeld", message);
    }
}
