use std::sync::Arc;

use kube_endpoint_model::well_known::{ENDPOINTS_CONTROLLER, MIRRORING_CONTROLLER, SLICE_CONTROLLER};
use kube_wire::Decode;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

/// Returns the controllers that a value of `--controllers` enables.
fn controllers(list: &str) -> Controllers {
    Controllers::parse(&list.split(',').map(str::to_owned).collect::<Vec<_>>()).unwrap()
}

fn decoded<T: Decode>(object: &Value) -> Arc<T> {
    Arc::new(T::from_json(&serde_json::to_vec(object).unwrap()).unwrap())
}

/// Returns a slice of `shop/web` at a version, with further metadata.
fn slice(version: u32, manager: &str, changes: &Value) -> Arc<EndpointSlice> {
    let labels = json!({"kubernetes.io/service-name": "web", SLICE_MANAGED_BY_LABEL: manager});
    let mut metadata = json!({
        "namespace": "shop", "name": "web-1", "uid": "u", "resourceVersion": version.to_string(), "labels": labels
    });
    for (field, value) in changes.as_object().cloned().unwrap_or_default() {
        metadata[field] = value;
    }
    decoded(&json!({"metadata": metadata, "addressType": "IPv4"}))
}

fn added(object: Arc<EndpointSlice>) -> Event<EndpointSlice> {
    Event::Added { object, initial: false, relisted: false }
}

fn updated(old: Arc<EndpointSlice>, new: Arc<EndpointSlice>) -> Event<EndpointSlice> {
    Event::Updated { old, new, relisted: false }
}

fn ours(version: u32, changes: &Value) -> Arc<EndpointSlice> {
    slice(version, SLICE_CONTROLLER, changes)
}

#[rstest]
#[case::create(added(ours(6, &json!({}))), Some(6))]
#[case::create_by_another_controller(added(slice(6, "example.com/other", &json!({}))), None)]
#[case::create_without_label(added(slice(6, "", &json!({}))), None)]
#[case::update(updated(ours(6, &json!({})), ours(7, &json!({"annotations": {"a": "b"}}))), Some(7))]
#[case::label_removed(updated(ours(6, &json!({})), slice(7, "example.com/other", &json!({}))), Some(7))]
#[case::label_added(updated(slice(6, "example.com/other", &json!({})), ours(7, &json!({}))), Some(7))]
#[case::same_content(updated(ours(6, &json!({"generation": 1})), ours(7, &json!({"generation": 2}))), None)]
#[case::beginning_of_a_deletion(
    updated(ours(6, &json!({})), ours(7, &json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}))),
    None
)]
fn creates_and_updates_of_managed_slices_count(#[case] event: Event<EndpointSlice>, #[case] version: Option<u64>) {
    let object = Object { resource: "endpointslices", key: ObjectKey::new("shop", "web-1") };
    assert_eq!(change(&event, &controllers("*")), version.map(|version| Change::Written(object, version.into())));
}

#[rstest]
#[case::running(SLICE_CONTROLLER, "endpointslice-controller", true)]
#[case::not_running(SLICE_CONTROLLER, "*,-endpointslice-controller", false)]
#[case::mirroring(MIRRORING_CONTROLLER, "endpointslice-mirroring-controller", true)]
#[case::mirroring_not_running(MIRRORING_CONTROLLER, "*,-endpointslice-mirroring-controller", false)]
fn objects_of_controllers_that_do_not_run_do_not_count(
    #[case] manager: &str,
    #[case] list: &str,
    #[case] expected: bool,
) {
    assert_eq!(change(&added(slice(6, manager, &json!({}))), &controllers(list)).is_some(), expected);
}

#[rstest]
#[case::managed(json!({ENDPOINTS_MANAGED_BY_LABEL: ENDPOINTS_CONTROLLER}), "*", true)]
#[case::custom(json!({}), "*", false)]
#[case::not_running(
    json!({ENDPOINTS_MANAGED_BY_LABEL: ENDPOINTS_CONTROLLER}),
    "*,-endpoints-controller",
    false
)]
fn managed_endpoints_count(#[case] labels: Value, #[case] list: &str, #[case] expected: bool) {
    let object = decoded::<Endpoints>(&json!({"metadata": {"namespace": "shop", "name": "web", "labels": labels}}));
    let event = Event::Added { object, initial: false, relisted: false };
    assert_eq!(change(&event, &controllers(list)).is_some(), expected);
}

#[rstest]
#[case::service("Service", Owner::Service(ObjectKey::new("shop", "web"), Some("o".into())))]
#[case::endpoints("Endpoints", Owner::Endpoints(ObjectKey::new("shop", "web"), "o".into()))]
fn the_owner_decides_about_a_deleted_slice(#[case] kind: &str, #[case] expected: Owner) {
    let owner = json!([{"apiVersion": "v1", "kind": kind, "name": "web", "uid": "o", "controller": true}]);
    let object = ours(6, &json!({"ownerReferences": owner}));
    let Some(Change::Deleted(_, owner)) = change(&Event::Deleted { object, tombstone: false }, &controllers("*"))
    else {
        panic!("expected a deletion")
    };
    assert_eq!(owner, expected);
    let orphan = Event::Deleted { object: ours(6, &json!({})), tombstone: true };
    let Some(Change::Deleted(_, owner)) = change(&orphan, &controllers("*")) else { panic!("expected a deletion") };
    assert_eq!(owner, Owner::Service(ObjectKey::new("shop", "web"), None), "by the label, without a reference");
}
