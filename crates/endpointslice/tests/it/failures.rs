//! Each write of a plan fails once, in each way; after retries the slices are as desired, without duplicates.

use std::collections::BTreeSet;

use kube_dev_apiserver::{Fault, On};
use kube_endpoint_model::{AddressType, ObjectMeta};
use kube_endpointslice::{ApplyError, DesiredGroup, Input, Owner, Plan, Reconciler};
use rstest::rstest;
use serde_json::json;

use crate::cluster::Cluster;
use crate::world::{endpoint_of, options, ports};

const CONTROLLER: &str = kube_endpoint_model::well_known::SLICE_CONTROLLER;

fn owner() -> Owner {
    let metadata =
        ObjectMeta { namespace: "default".into(), name: "web".into(), uid: "u-web".into(), ..ObjectMeta::default() };
    Owner::new("v1", "Service", &metadata)
}

/// Returns groups of ready endpoints, given by address type, port and numbers.
fn groups(groups: &[(AddressType, i32, &[usize])]) -> Vec<DesiredGroup> {
    let group = |(address_type, port, numbers): &(AddressType, i32, &[usize])| DesiredGroup {
        address_type: address_type.clone(),
        ports: ports(*port),
        endpoints: numbers.iter().map(|number| endpoint_of(address_type, *number, true)).collect(),
    };
    groups.iter().map(group).collect()
}

/// Returns the groups before the change: two families and three ports.
fn before() -> Vec<DesiredGroup> {
    let v4 = AddressType::IPv4;
    groups(&[
        (v4.clone(), 80, &[1, 2, 3, 4]),
        (v4.clone(), 81, &[5]),
        (v4, 82, &[6]),
        (AddressType::IPv6, 80, &[1, 2, 3, 4]),
    ])
}

/// Returns the groups after the change, and their addresses. With slices of at most two endpoints, the change takes
/// every verb.
fn after() -> (Vec<DesiredGroup>, BTreeSet<String>) {
    // IPv4: one slice is updated and three are deleted. IPv6: three slices are created.
    let desired = groups(&[(AddressType::IPv4, 80, &[1, 7]), (AddressType::IPv6, 80, &[1, 2, 3, 4, 5, 6, 7, 8, 9])]);
    let addresses = desired.iter().flat_map(|group| &group.endpoints).map(|it| it.addresses[0].to_string()).collect();
    (desired, addresses)
}

async fn sync(reconciler: &Reconciler, desired: Vec<DesiredGroup>) -> Result<Plan, ApplyError> {
    let (owner, types) = (owner(), [AddressType::IPv4, AddressType::IPv6]);
    let existing = reconciler.live_slices(&owner.key()).await.expect("a list");
    reconciler.reconcile(Input::new(&owner, &types, desired, &existing), None).await.map(|done| done.plan)
}

/// Returns a cluster with the slices of [`before`], and the reconciler that wrote them.
async fn cluster_before() -> (Cluster, Reconciler) {
    let cluster = Cluster::start().await;
    let reconciler = Reconciler::builder(cluster.client.clone(), options(2)).build();
    sync(&reconciler, before()).await.expect("the slices before");
    (cluster, reconciler)
}

fn of_slices(verb: &str) -> On {
    On::any().verb(verb).resource("endpointslices")
}

async fn addresses(cluster: &Cluster) -> Vec<String> {
    let mut addresses = Vec::new();
    for slice in cluster.slices(CONTROLLER).await {
        let endpoints = slice["endpoints"].as_array().cloned().unwrap_or_default();
        addresses.extend(endpoints.iter().map(|it| it["addresses"][0].as_str().expect("an address").to_owned()));
    }
    addresses.sort();
    addresses
}

/// Returns the number of creates, updates and deletes of the change.
async fn writes() -> [u32; 3] {
    let (_cluster, reconciler) = cluster_before().await;
    let plan = sync(&reconciler, after().0).await.expect("the slices after");
    let count = |of: fn(&kube_endpointslice::TypePlan) -> usize| {
        u32::try_from(plan.types.iter().map(of).sum::<usize>()).expect("a few writes")
    };
    [count(|it| it.creates().count()), count(|it| it.updates().count()), count(|it| it.deletes().count())]
}

#[rstest]
#[case::conflict(Fault::reject(409))]
#[case::not_found(Fault::reject(404))]
#[case::forbidden(Fault::reject(403))]
#[case::invalid(Fault::reject(422))]
#[case::broken(Fault::internal_error())]
#[case::applied_and_timed_out(Fault::apply_then_timeout())]
#[case::applied_and_reset(Fault::apply_then_reset())]
#[tokio::test]
async fn at_every_position(#[case] fault: Fault) {
    let counts = writes().await;
    assert!(counts.iter().all(|count| *count > 0), "the change takes every verb: {counts:?}");
    for (verb, count) in ["create", "update", "delete"].into_iter().zip(counts) {
        for position in 0..count {
            let (cluster, reconciler) = cluster_before().await;
            cluster.server.faults().inject(fault.clone().on(of_slices(verb)).after(position).times(1));

            let (desired, expected) = after();
            let mut tries = 0;
            while sync(&reconciler, desired.clone()).await.is_err() {
                tries += 1;
                assert!(tries < 5, "{verb} {position}: still failing");
            }
            if verb == "delete" {
                // A delete answered with 404 succeeds, so the next sync finds the slice.
                sync(&reconciler, desired.clone()).await.expect("a sync");
            }
            let hits: u32 = cluster.server.faults().states().iter().map(|state| state.hits).sum();
            assert_eq!(hits, 1, "{verb} {position}: no fault was injected");
            assert_eq!(addresses(&cluster).await, Vec::from_iter(expected), "{verb} {position}");
            assert!(sync(&reconciler, desired).await.expect("a sync").is_empty(), "{verb} {position}: not settled");
        }
    }
}

/// A slice that another client has changed since it was read is not deleted. Upstream deletes it.
#[tokio::test]
async fn only_what_was_seen_is_deleted() {
    let (cluster, reconciler) = cluster_before().await;
    let (owner, types) = (owner(), [AddressType::IPv4, AddressType::IPv6]);
    let seen = reconciler.live_slices(&owner.key()).await.expect("a list");
    for slice in &seen {
        let path = format!("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/{}", slice.metadata.name);
        cluster.call("PATCH", &path, &json!({"metadata": {"annotations": {"made": "anew"}}})).await;
    }
    let nothing = reconciler.reconcile(Input::new(&owner, &types, Vec::<DesiredGroup>::new(), &seen), None).await;
    assert!(nothing.is_err());
    let deletes = cluster.server.requests().matching(&of_slices("delete"));
    assert!(deletes.iter().all(|it| it.status == Some(409)), "{deletes:?}");
    assert_eq!(cluster.slices(CONTROLLER).await.len(), seen.len());
    sync(&reconciler, vec![]).await.expect("a sync of what there is now");
    assert_eq!(addresses(&cluster).await, Vec::<String>::new());
}

// RC-43
#[tokio::test]
async fn a_terminating_namespace_ends_the_type_without_failure() {
    let cluster = Cluster::start().await;
    cluster.create("/api/v1/namespaces", json!({"metadata": {"name": "going"}})).await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}});
    cluster.create("/api/v1/namespaces/going/configmaps", held).await;
    cluster.call("DELETE", "/api/v1/namespaces/going", &json!({})).await;

    let reconciler = Reconciler::builder(cluster.client.clone(), options(2)).build();
    let metadata =
        ObjectMeta { namespace: "going".into(), name: "web".into(), uid: "u".into(), ..ObjectMeta::default() };
    let owner = Owner::new("v1", "Service", &metadata);
    let input = Input::new(&owner, &[AddressType::IPv4], groups(&[(AddressType::IPv4, 80, &[1])]), &[]);
    let done = reconciler.reconcile(input, None).await.expect("no failure");
    assert_eq!((done.plan.types[0].creates().count(), done.writes), (1, 0));
    let refused = cluster.server.requests().count(&of_slices("create"));
    assert_eq!(refused, 1, "one create was sent");
}

// RC-4
#[tokio::test]
async fn slices_of_dropped_address_types_are_deleted_despite_failures() {
    let (cluster, reconciler) = cluster_before().await;
    cluster.server.faults().inject(Fault::reject(409).on(of_slices("update")).times(1));
    cluster.server.faults().inject(Fault::internal_error().on(of_slices("delete")).times(1));
    let owner = owner();
    let existing = reconciler.live_slices(&owner.key()).await.expect("a list");
    let desired = groups(&[(AddressType::IPv4, 80, &[1, 7])]);
    let input = Input::new(&owner, &[AddressType::IPv4], desired, &existing);
    let error = reconciler.reconcile(input, None).await.expect_err("an update and a delete fail");
    let messages: Vec<String> = error.failures().iter().map(ToString::to_string).collect();
    let begin = ["failed to update web-", "error deleting web-"];
    assert!(messages.iter().zip(begin).all(|(message, begin)| message.starts_with(begin)), "{messages:?}");
    assert!(messages.iter().all(|it| it.ends_with(" EndpointSlice for Service default/web")), "{messages:?}");
    assert_eq!(messages.len(), 2, "{error}");
    assert_eq!(cluster.server.requests().count(&of_slices("delete")), 2, "both slices of IPv6, none of IPv4");
}

// RC-44
#[tokio::test]
async fn a_conflict_ends_the_writes_of_its_address_type_only() {
    let (cluster, reconciler) = cluster_before().await;
    cluster.server.faults().inject(Fault::reject(409).on(of_slices("update")).times(1));
    let error = sync(&reconciler, after().0).await.expect_err("the update fails");
    assert_eq!(error.failures().len(), 1, "{error}");
    assert_eq!(cluster.server.requests().count(&of_slices("delete")), 0, "those of IPv4 follow its update");
    let ipv6 = addresses(&cluster).await.into_iter().filter(|it| it.contains(':')).count();
    assert_eq!(ipv6, 9, "the creates of IPv6");
}

// EC-46
#[tokio::test]
async fn deleting_a_slice_that_is_gone_succeeds() {
    let (cluster, reconciler) = cluster_before().await;
    cluster.server.faults().inject(Fault::reject(404).on(of_slices("delete")).times(1));
    sync(&reconciler, after().0).await.expect("404 is not a failure");
    assert_eq!(cluster.server.requests().count(&of_slices("delete")), 3, "all deletes are sent in the same sync");
}
