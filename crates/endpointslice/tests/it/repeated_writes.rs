//! Writes that are repeated: by the client within one request, and by the next sync.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use http::{Response, StatusCode, header::RETRY_AFTER};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{On, Server};
use kube_endpoint_model::{AddressType, ObjectMeta};
use kube_endpointslice::{DesiredGroup, Input, Owner, Reconciler};
use rstest::rstest;
use serde_json::{Value, json};
use tower::util::MapResponse;

use crate::world::{endpoint_of, options, ports};

fn owner() -> Owner {
    let metadata =
        ObjectMeta { namespace: "default".into(), name: "web".into(), uid: "u-web".into(), ..ObjectMeta::default() };
    Owner::new("v1", "Service", &metadata)
}

fn desired(endpoints: usize) -> Vec<DesiredGroup> {
    let endpoints = (0..endpoints).map(|number| endpoint_of(&AddressType::IPv4, number, true)).collect();
    vec![DesiredGroup { address_type: AddressType::IPv4, ports: ports(80), endpoints }]
}

/// A proxy answers a create that the server has applied with 503 and `Retry-After`, so that the client sends it again.
#[tokio::test(start_paused = true)]
async fn a_create_that_is_sent_again_makes_one_slice() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("no initial objects");
    let hidden = Arc::new(AtomicBool::new(false));
    let proxy = MapResponse::new(server.service(), move |mut response: Response<_>| {
        if response.status() == StatusCode::CREATED && !hidden.swap(true, Relaxed) {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response.headers_mut().insert(RETRY_AFTER, 0.into());
        }
        response
    });
    let client = Client::new(&Config::from_service(proxy), ClientOptions::default()).expect("a valid configuration");
    let reconciler = Reconciler::builder(client, options(2)).build();
    let (owner, types) = (owner(), [AddressType::IPv4]);
    let desired = || desired(1);
    // The list before the create, also for the second sync: the cache of a controller may lag behind.
    let before = reconciler.live_slices(&owner.key()).await.expect("a list");
    for _ in 0..2 {
        let failed = reconciler.reconcile(Input::new(&owner, &types, desired(), &before), None).await;
        assert!(failed.is_err(), "the slice exists");
    }
    let creates = server.requests().matching(&On::any().verb("create").resource("endpointslices"));
    let codes: Vec<_> = creates.iter().map(|create| create.status).collect();
    assert_eq!(codes, [Some(201), Some(409), Some(409)]);
    let slices = reconciler.live_slices(&owner.key()).await.expect("a list");
    assert_eq!(slices.len(), 1);
    let done = reconciler.reconcile(Input::new(&owner, &types, desired(), &slices), None).await.expect("a sync");
    assert!(done.plan.is_empty());
}

/// A policy changes each slice as it is written. As each sync with writes is followed by another, the same content
/// would be sent every second.
#[rstest]
#[case::without_owner(|slice: &mut Value| slice["metadata"]["ownerReferences"] = json!([]))]
#[case::without_endpoints(|slice: &mut Value| slice["endpoints"] = json!([]))]
#[case::one_endpoint_at_most(|slice: &mut Value| slice["endpoints"].as_array_mut().expect("endpoints").truncate(1))]
#[case::other_ports(|slice: &mut Value| slice["ports"] = json!([]))]
#[tokio::test(start_paused = true)]
async fn content_that_the_server_changes_is_not_sent_again(#[case] policy: fn(&mut Value)) {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("no initial objects");
    server.admission().mutate(move |request, slice| {
        assert_eq!(request.resource, "endpointslices");
        policy(slice);
        Ok(())
    });
    let config = Config::from_service(server.service());
    let client = Client::new(&config, ClientOptions::default()).expect("a valid configuration");
    let reconciler = Reconciler::builder(client, options(2)).build();
    let (owner, types) = (owner(), [AddressType::IPv4]);
    let mut writes = Vec::new();
    for _ in 0..8 {
        let slices = reconciler.live_slices(&owner.key()).await.expect("a list");
        let done = reconciler.reconcile(Input::new(&owner, &types, desired(5), &slices), None).await.expect("a sync");
        writes.push(done.writes);
    }
    assert_eq!(writes[6..], [0, 0], "{writes:?}");
    let slices = reconciler.live_slices(&owner.key()).await.expect("a list");
    assert!((3..=5).contains(&slices.len()), "{} slices after {writes:?}", slices.len());
}
