//! Reviews of plans, which get the writes in place of the API server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kube_controller_client::{Review, ReviewedClient};
use kube_dev_apiserver::On;
use kube_endpoint_model::{AddressType, EndpointSlice, ObjectKey, Write};
use kube_endpointslice::metrics::SliceMetrics;
use kube_endpointslice::{DesiredGroup, Input, Owner, Plan, Reconciled, Reconciler};

use crate::cluster::Cluster;
use crate::world::{group, options, service};

/// Records the writes that it gets.
#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Review<EndpointSlice> for Seen {
    fn review(&self, key: &ObjectKey, writes: &[&Write<EndpointSlice>]) {
        let write = |write: &&Write<EndpointSlice>| match write {
            Write::Create(slice) => format!("create {}", slice.endpoints.len()),
            Write::Update { stored, desired } => {
                assert_eq!(stored.metadata, desired.metadata, "the plan changes endpoints only");
                format!("update {} {}", stored.endpoints.len(), desired.endpoints.len())
            }
            Write::Delete(slice) => format!("delete {}", slice.endpoints.len()),
        };
        let writes: Vec<String> = writes.iter().map(write).collect();
        self.0.lock().expect("no panic").push(format!("{key}: {}", writes.join(", ")));
    }
}

/// Counts the observations of plans.
#[derive(Default)]
struct Planned(AtomicUsize);

impl SliceMetrics for Planned {
    fn planned(&self, _: &Plan) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

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
async fn a_reviewed_plan_is_returned_and_neither_sent_nor_counted() {
    let cluster = Cluster::start().await;
    let (review, metrics) = (Arc::new(Seen::default()), Arc::new(Planned::default()));
    let client = ReviewedClient::new(cluster.client.clone(), review.clone());
    let reviewed = Reconciler::builder(client, options(2)).metrics(metrics.clone()).build();
    let writer = Reconciler::builder(cluster.client.clone(), options(2)).metrics(metrics.clone()).build();
    let writes = || cluster.server.requests().count(&On::writes());
    let planned = || metrics.0.load(Ordering::Relaxed);

    for _ in 0..2 {
        let done = sync(&reviewed, vec![group(0..4, 80, true)]).await;
        assert_eq!((done.writes, done.plan.len()), (0, 2));
    }
    assert_eq!((writes(), planned()), (0, 0));

    let done = sync(&writer, vec![group(0..4, 80, true)]).await;
    assert_eq!((done.writes, planned()), (2, 1));

    sync(&reviewed, vec![group(0..4, 80, true)]).await;
    sync(&reviewed, vec![group(0..1, 80, true)]).await;
    let key = owner().key();
    let slices = reviewed.live_slices(&key).await.expect("a list");
    let done = reviewed.delete(&"Service".into(), &key, slices).await.expect("no failure");
    assert_eq!((done.writes, done.plan.len()), (0, 2));
    assert_eq!((writes(), planned()), (2, 1), "those of the writer");

    let seen = review.0.lock().expect("no panic").join("\n");
    let expected = [
        "default/web: create 2, create 2",
        "default/web: create 2, create 2",
        "default/web: ",
        "default/web: update 2 1, delete 2",
        "default/web: delete 2, delete 2",
    ];
    assert_eq!(seen, expected.join("\n"));
}
