//! Events about lists that the guard holds.

use futures::future::join_all;
use kube_controller_client::events::EventType;
use kube_informer::HeldList;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::leader::Leading;

/// Resource and held list of each cache.
pub(crate) type HeldLists = Vec<(&'static str, watch::Receiver<Option<HeldList>>)>;

/// Records an event about the Lease when a list of a cache gets held, or is held already, until `stop` is cancelled. The
/// Lease is the object of this program that every installation with several replicas has.
pub(crate) async fn report_held_lists(leading: Leading, lists: HeldLists, stop: CancellationToken) {
    let reports = lists.into_iter().map(|(resource, list)| report_one(&leading, resource, list));
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        // The caches outlive their reports.
        _ = join_all(reports) => stop.cancelled().await,
    }
}

async fn report_one(leading: &Leading, resource: &str, mut list: watch::Receiver<Option<HeldList>>) {
    while let Ok(held) = list.wait_for(Option::is_some).await.map(|held| held.clone()) {
        if let Some(held) = held {
            record(leading, resource, &held);
        }
        // Until a list is believed, it is the same incident.
        if list.wait_for(Option::is_none).await.is_err() {
            return;
        }
    }
}

fn record(leading: &Leading, resource: &str, held: &HeldList) {
    let HeldList { missing, example, found } = held;
    let read = if *found { "exists" } else { "cannot be read" };
    let message = format!(
        "A list of {resource} lacks {missing} objects that were listed before or that slices or Endpoints refer to, and \
         {example} {read}: removals of their endpoints wait for a list that has them. Compare with: kubectl get {resource} \
         -A | wc -l"
    );
    leading.recorder.event(&leading.fence.lease(), EventType::Warning, "ListHeld", message);
}
