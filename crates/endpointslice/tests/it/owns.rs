//! A reconciler within a controller of another author.

use kube_controller_client::Error;
use kube_controller_program::{Controller, ControllerError};
use kube_endpoint_model::{AddressType, ObjectMeta, SliceIndex};
use kube_endpoints_testing::LIMIT;
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Reconciler};
use kube_informer::{Informer, wait_for_sync};
use kube_lease_election::LeaseName;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;

async fn run(controller: Controller) -> ControllerError {
    controller.run(CancellationToken::new(), (), async |_, _| Ok::<(), Error>(())).await.expect_err("an error")
}

#[tokio::test]
async fn a_reconciler_without_an_informer_is_refused() {
    let cluster = Cluster::start().await;
    let controller = Controller::new("pools", cluster.client.clone());
    let reconciler = Reconciler::builder(controller.client().clone(), Options::new("pools.example.com")).build();
    let error = run(controller.owns_slices(&reconciler)).await;
    assert!(matches!(error, ControllerError::OwnsWithoutInformer), "{error}");
}

/// Its writes would not stop when the lease is lost.
#[tokio::test]
async fn with_leader_election_a_reconciler_with_another_client_is_refused() {
    let cluster = Cluster::start().await;
    let controller = Controller::new("pools", cluster.client.clone());
    let options = Options::new("pools.example.com");
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(cluster.client.clone(), options).slices(&slices).build();
    let controller = controller.owns_slices(&reconciler).with_leader_election(LeaseName::new("default", "pools"));
    let error = run(controller).await;
    assert!(matches!(error, ControllerError::OwnsWithoutGate), "{error}");
}

#[tokio::test]
#[should_panic(expected = "indexed by kubernetes.io/service-name, not by the owner label pools.example.com/owner")]
async fn an_informer_with_another_index_is_refused() {
    let cluster = Cluster::start().await;
    let slices = Informer::builder(cluster.client.clone()).index(SliceIndex::default()).build();
    let _ = Reconciler::builder(cluster.client.clone(), Options::new("pools.example.com")).slices(&slices);
}

fn metadata(name: &str) -> ObjectMeta {
    ObjectMeta { namespace: "default".into(), name: name.into(), uid: "u".into(), ..ObjectMeta::default() }
}

fn desired(address: &str) -> Vec<DesiredGroup> {
    let endpoint = kube_endpoint_model::Endpoint { addresses: [address].into(), ..Default::default() };
    vec![DesiredGroup { address_type: AddressType::IPv4, ports: Vec::new(), endpoints: vec![endpoint] }]
}

/// The slices are found by label and key without a controller, too; the own write is in the cache at once.
#[tokio::test]
async fn slices_are_found_by_the_label_and_key_of_the_author() {
    let cluster = Cluster::start().await;
    let options = Options::new("pools.example.com").owner_label("example.com/pool");
    let slices = Informer::builder(cluster.client.clone()).index(options.slice_index()).build();
    let mut tasks = JoinSet::new();
    tasks.spawn(slices.run(CancellationToken::new()));
    wait_for_sync([&slices.store_synced()], LIMIT).await.expect("synced");
    let reconciler = Reconciler::builder(cluster.client.clone(), options).slices(&slices).build();

    let long = "a".repeat(80);
    let types = [AddressType::IPv4];
    for (name, tracked_as) in [("edge", None), (&*long, None), ("edge", Some("edge-canary"))] {
        let owner = Owner::new("example.com/v1", "Pool", &metadata(name));
        for (address, writes) in [("10.0.0.1", 1), ("10.0.0.1", 0), ("10.0.0.2", 1)] {
            let mut key = owner.key();
            if let Some(name) = tracked_as {
                key.name = name.into();
            }
            let existing = reconciler.existing_slices(&key).await.expect("cached");
            let live = reconciler.live_slices(&key).await.expect("listed");
            assert_eq!(existing, live);
            let mut input = Input::new(&owner, &types, desired(address), &existing);
            input.tracked_as = tracked_as;
            assert_eq!(input.key(), key);
            assert_eq!(reconciler.reconcile(input, None).await.expect("written").writes, writes);
        }
    }
    let mut values: Vec<String> = Vec::new();
    for slice in cluster.slices("pools.example.com").await {
        let labels = &slice["metadata"]["labels"];
        assert_eq!(labels["kubernetes.io/service-name"], json!(null));
        values.push(labels["example.com/pool"].as_str().expect("a label").to_owned());
    }
    values.sort();
    assert_eq!((values.len(), values[0].len(), &*values[1], &*values[2]), (3, 63, "edge", "edge-canary"));
}
