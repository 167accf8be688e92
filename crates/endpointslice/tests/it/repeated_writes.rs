//! Writes that the client repeats within one request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use http::{Response, StatusCode, header::RETRY_AFTER};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{On, Server};
use kube_endpoint_model::{AddressType, ObjectMeta};
use kube_endpointslice::{DesiredGroup, Input, Owner, Reconciler};
use tower::util::MapResponse;

use crate::world::{endpoint_of, options, ports};

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
    let metadata =
        ObjectMeta { namespace: "default".into(), name: "web".into(), uid: "u-web".into(), ..ObjectMeta::default() };
    let (owner, types) = (Owner::new("v1", "Service", &metadata), [AddressType::IPv4]);
    let desired = || {
        let endpoints = vec![endpoint_of(&AddressType::IPv4, 1, true)];
        vec![DesiredGroup { address_type: AddressType::IPv4, ports: ports(80), endpoints }]
    };
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
