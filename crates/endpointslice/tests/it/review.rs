//! Reviews of plans before they are sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller_client::{PlannedWrite, Review, ReviewedClient, Verdict};
use kube_dev_apiserver::On;
use kube_endpoint_model::{AddressType, EndpointSlice, ObjectKey};
use kube_endpointslice::{DesiredGroup, Input, Owner, Reconciled, Reconciler};

use crate::cluster::Cluster;
use crate::world::{group, options, service};

/// Returns a fixed verdict, and records the writes that it is about.
struct Fixed {
    verdict: Mutex<Verdict>,
    seen: Mutex<Vec<String>>,
}

impl Review<EndpointSlice> for Fixed {
    fn review(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, EndpointSlice>]) -> Verdict {
        let write = |write: &PlannedWrite<'_, EndpointSlice>| match write {
            PlannedWrite::Create(slice) => format!("create {}", slice.endpoints.len()),
            PlannedWrite::Update { stored, desired } => {
                assert_eq!(stored.metadata, desired.metadata, "the plan changes endpoints only");
                format!("update {} {}", stored.endpoints.len(), desired.endpoints.len())
            }
            PlannedWrite::Delete(slice) => format!("delete {}", slice.endpoints.len()),
        };
        let writes: Vec<String> = writes.iter().map(write).collect();
        self.seen.lock().expect("no panic").push(format!("{key}: {}", writes.join(", ")));
        *self.verdict.lock().expect("no panic")
    }
}

const WITHHOLD: Verdict = Verdict::Withhold { sync_again: Some(Duration::from_secs(7)) };

fn owner() -> Owner {
    let mut owner = Owner::service(&service());
    owner.namespace = "default".into();
    owner
}

async fn sync(reconciler: &Reconciler, desired: Vec<DesiredGroup>) -> Reconciled {
    let owner = owner();
    let existing = reconciler.live_slices(&owner.key()).await.expect("a list");
    let input = Input::new(&owner, &[AddressType::IPv4], desired, &existing);
    reconciler.reconcile(input, None).await.expect("no failure")
}

#[tokio::test]
async fn a_withheld_plan_is_returned_and_sends_no_write() {
    let cluster = Cluster::start().await;
    let review = Arc::new(Fixed { verdict: Mutex::new(WITHHOLD), seen: Mutex::default() });
    let client = ReviewedClient::new(cluster.client.clone(), review.clone());
    let reconciler = Reconciler::builder(client, options(2)).build();
    let writes = || cluster.server.requests().count(&On::writes());

    let done = sync(&reconciler, vec![group(0..4, 80, true)]).await;
    assert_eq!((done.writes, done.plan.writes(), done.again_after), (0, 2, Some(Duration::from_secs(7))));
    assert_eq!(writes(), 0);

    *review.verdict.lock().expect("no panic") = Verdict::Send;
    let done = sync(&reconciler, vec![group(0..4, 80, true)]).await;
    assert_eq!((done.writes, done.again_after), (2, None));

    *review.verdict.lock().expect("no panic") = WITHHOLD;
    sync(&reconciler, vec![group(0..4, 80, true)]).await;
    sync(&reconciler, vec![group(0..1, 80, true)]).await;
    let key = owner().key();
    let slices = reconciler.live_slices(&key).await.expect("a list");
    let done = reconciler.delete(&"Service".into(), &key, slices).await.expect("no failure");
    assert_eq!((done.writes, done.plan.writes()), (0, 2));
    assert_eq!(writes(), 2, "those that were sent");

    let seen = review.seen.lock().expect("no panic").join("\n");
    let expected = [
        "default/web: create 2, create 2",
        "default/web: create 2, create 2",
        "default/web: ",
        "default/web: update 2 1, delete 2",
        "default/web: delete 2, delete 2",
    ];
    assert_eq!(seen, expected.join("\n"));
}
