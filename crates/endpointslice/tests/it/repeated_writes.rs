//! Writes that are repeated: by the client within one request, and by the next sync.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use http::{Response, StatusCode, header::RETRY_AFTER};
use k8s_openapi::api::discovery;
use kube_controller::{Action, Outcome};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{On, Server};
use kube_endpoint_model::{AddressType, ObjectMeta};
use kube_endpointslice::{DesiredGroup, Input, Owner, Reconciler};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::advance;
use tower::util::MapResponse;

use crate::cluster::Cluster;
use crate::world::{endpoint_of, options, ports};

fn owner() -> Owner {
    owner_with("u-web")
}

fn owner_with(uid: &str) -> Owner {
    let metadata =
        ObjectMeta { namespace: "default".into(), name: "web".into(), uid: uid.into(), ..ObjectMeta::default() };
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

/// A policy changes each slice as it is written. As each sync with writes is followed by another, the same content would be
/// sent every second. It is sent again after a minute, two minutes and so on, up to an hour, so that the changes of the
/// policy end with it, and no retry leaves more slices behind.
#[rstest]
#[case::without_owner(|slice: &mut Value| slice["metadata"]["ownerReferences"] = json!([]), [39, 0, 36], 3, false)]
#[case::without_labels(|slice: &mut Value| slice["metadata"]["labels"] = json!({}), [3, 36, 0], 3, true)]
#[case::with_a_label(|slice: &mut Value| slice["metadata"]["labels"]["team"] = json!("network"), [3, 36, 0], 3, false)]
#[case::without_endpoints(|slice: &mut Value| slice["endpoints"] = json!([]), [3, 12, 0], 5, false)]
#[case::one_endpoint_at_most(|slice: &mut Value| keep_one(&mut slice["endpoints"]), [4, 11, 0], 4, false)]
#[case::without_ports(|slice: &mut Value| slice["ports"] = json!([]), [3, 36, 0], 3, false)]
#[tokio::test(start_paused = true)]
async fn content_that_the_server_changes_is_sent_ever_more_rarely(
    #[case] policy: fn(&mut Value),
    #[case] expected: [usize; 3],
    #[case] slices_at_the_end: usize,
    #[case] is_refused: bool,
) {
    let (server, reconciler) = policed(policy);
    let (owner, types) = (owner(), [AddressType::IPv4]);
    let sync = async || {
        let slices = reconciler.live_slices(&owner.key()).await.expect("a list");
        reconciler.reconcile(Input::new(&owner, &types, desired(5), &slices), None).await.is_ok()
    };
    assert!(sync().await);
    assert_eq!(sync().await, !is_refused, "creates are refused while slices lack their labels");
    for seconds in iter::repeat_n(1, 100).chain(iter::repeat_n(60, 424)) {
        sync().await;
        advance(Duration::from_secs(seconds)).await;
    }
    let writes = ["create", "update", "delete"];
    let writes = writes.map(|verb| server.requests().count(&On::any().verb(verb).resource("endpointslices")));
    assert_eq!(writes, expected, "creates, updates and deletes of 12 retries");

    server.admission().clear();
    for _ in 0..=60 {
        sync().await;
        advance(Duration::from_secs(60)).await;
    }
    sync().await;
    let slices = reconciler.live_slices(&owner.key()).await.expect("a list");
    assert_eq!(slices.len(), slices_at_the_end);
    assert_eq!(slices.iter().map(|slice| slice.endpoints.len()).sum::<usize>(), 5);
    let done = reconciler.reconcile(Input::new(&owner, &types, desired(5), &slices), None).await.expect("a sync");
    assert!(done.plan.is_empty());
    assert_eq!(done.retry_after, None);
}

/// What changes while a retry is due is not taken for a repetition.
#[rstest]
#[case::another_endpoint(5, false)]
#[case::deleted_slice(4, true)]
#[tokio::test(start_paused = true)]
async fn a_change_is_written_although_a_retry_is_due(#[case] endpoints: usize, #[case] is_deleted: bool) {
    let (server, reconciler) = policed(|slice| slice["metadata"]["labels"]["team"] = json!("network"));
    let (owner, types) = (owner(), [AddressType::IPv4]);
    let sync = async |endpoints: usize| {
        let slices = reconciler.live_slices(&owner.key()).await.expect("a list");
        let input = Input::new(&owner, &types, desired(endpoints), &slices);
        let done = reconciler.reconcile(input, None).await.expect("a sync");
        (slices, Action::from(done))
    };
    let retry = Duration::from_secs(60);
    assert_eq!(sync(4).await.1, Outcome::Written.requeue_after(retry));
    let (slices, action) = sync(4).await;
    assert_eq!(action, Outcome::Unchanged.requeue_after(retry));
    advance(retry).await;
    if is_deleted {
        server.typed::<discovery::v1::EndpointSlice>().delete(&slices[0].metadata.name).expect("it exists");
    }
    let _ = sync(endpoints).await;
    let (slices, _) = sync(endpoints).await;
    assert_eq!(slices.iter().map(|slice| slice.endpoints.len()).sum::<usize>(), endpoints);
}

#[tokio::test(start_paused = true)]
async fn slices_of_an_earlier_owner_are_replaced() {
    let (_server, reconciler) = policed(|slice| slice["metadata"]["labels"]["team"] = json!("network"));
    let mut writes = Vec::new();
    for uid in ["u-web", "u-web", "u-next", "u-next"] {
        let (owner, types) = (owner_with(uid), [AddressType::IPv4]);
        let slices = reconciler.live_slices(&owner.key()).await.expect("a list");
        let done = reconciler.reconcile(Input::new(&owner, &types, desired(4), &slices), None).await.expect("a sync");
        writes.push(done.writes);
    }
    assert_eq!(writes, [2, 0, 4, 0]);
}

/// Returns a server that changes each slice as it is written, and a reconciler of slices of two endpoints at most.
fn policed(policy: fn(&mut Value)) -> (Server, Reconciler) {
    let Cluster { server, client } = Cluster::in_process();
    server.admission().mutate(move |_, slice| {
        policy(slice);
        Ok(())
    });
    (server, Reconciler::builder(client, options(2)).build())
}

fn keep_one(endpoints: &mut Value) {
    endpoints.as_array_mut().expect("endpoints").truncate(1);
}
