//! Endpoints without a Service: only those that the process saw become superfluous are deleted.

use k8s_openapi::api::core::v1 as core;
use kube_dev_apiserver::{Fault, On};
use kube_endpoint_model::well_known::{ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, LEADER_ANNOTATION};
use kube_endpoints_testing::eventually;
use rstest::rstest;
use serde_json::{Value, json};

use crate::rig::{NAMESPACE, Rig, read};
use crate::sync::{self, pod, web};

/// Version of a Service that is higher than those that the server assigns.
const LATER: u32 = 1_000_000;

/// Endpoints as a backup has them, whose Service is restored later.
fn restored(managed: bool, leader: bool) -> Value {
    let labels = if managed { json!({ ENDPOINTS_MANAGED_BY_LABEL: ENDPOINTS_CONTROLLER }) } else { json!({}) };
    let annotations = if leader { json!({ LEADER_ANNOTATION: "{}" }) } else { json!({}) };
    let subset = json!({"addresses": [{"ip": "192.0.2.3"}], "ports": [{"name": "a", "port": 80, "protocol": "TCP"}]});
    let metadata = json!({"namespace": NAMESPACE, "name": "web", "labels": labels, "annotations": annotations});
    json!({"metadata": metadata, "subsets": [subset]})
}

fn without_selector(version: u32) -> Value {
    let metadata = json!({"namespace": NAMESPACE, "name": "web", "uid": "s2", "resourceVersion": version.to_string()});
    json!({"metadata": metadata, "spec": {"ports": [{"name": "a", "port": 80}]}})
}

async fn create(rig: &Rig, object: &Value) {
    rig.client.create(&read::<core::Endpoints>(object)).await.expect("created");
}

/// How the cache shows the object.
#[derive(Clone, Copy, Debug)]
enum By {
    Watch,
    Relist,
    /// The watch shows that the object was deleted; another client has created it again.
    Deletion,
}

#[rstest]
#[tokio::test]
async fn endpoints_that_are_created_before_their_service_are_kept(
    #[values(By::Watch, By::Relist, By::Deletion)] by: By,
    #[values(true, false)] managed: bool,
    #[values(true, false)] leader: bool,
) {
    let mut rig = Rig::start(&[], &[], &[]).await;
    create(&rig, &restored(managed, leader)).await;
    let stored = rig.stored("web").await.expect("created above");
    match by {
        By::Watch => rig.endpoints.apply(stored),
        By::Relist => rig.relist(stored).await,
        By::Deletion => {
            rig.endpoints.apply(stored.clone());
            rig.client.delete::<core::Endpoints>(NAMESPACE, "web", None).await.expect("deleted");
            create(&rig, &restored(managed, leader)).await;
            rig.endpoints.delete(stored);
        }
    }
    rig.endpoints.deliver();
    assert!(rig.writes().await.is_empty());
    rig.service(&without_selector(1));
    assert!(rig.writes().await.is_empty());
    assert_eq!(rig.stored("web").await.expect("kept").subsets[0].addresses[0].ip.to_string(), "192.0.2.3");
}

/// The Service of an earlier time was deleted with its Endpoints, and a backup brings the Endpoints back first.
#[rstest]
#[tokio::test]
async fn endpoints_that_are_restored_after_their_service_was_deleted_are_kept(#[values(true, false)] cached: bool) {
    let mut rig = Rig::start(&[web(1)], &[pod("a", "10.0.0.1")], &[]).await;
    rig.refresh("web").await;
    rig.services.delete(read(&web(LATER)));
    rig.services.deliver();
    assert_eq!(rig.writes().await, ["create 201", "delete web 200"]);
    create(&rig, &restored(true, false)).await;
    if cached {
        rig.refresh("web").await;
    }
    assert_eq!(rig.writes().await.len(), 2, "the restored object is another one");
    rig.service(&without_selector(2));
    assert_eq!(rig.writes().await.len(), 2);
    assert!(rig.stored("web").await.is_some());
}

/// The Endpoints were replaced after the deletion of the Service, and before its sync.
#[rstest]
#[case::the_watch_has_not_shown_them(true, false, false)]
#[case::the_watch_has_shown_them(true, false, true)]
#[case::the_watch_has_shown_them_before_the_deletion(false, true, true)]
#[tokio::test]
async fn endpoints_that_are_newer_than_the_deletion_of_their_service_are_kept(
    #[case] managed: bool,
    #[case] cached_before: bool,
    #[case] cached: bool,
) {
    let mut rig = Rig::start(&[without_selector(1)], &[], &[]).await;
    create(&rig, &restored(managed, false)).await;
    if cached_before {
        rig.refresh("web").await;
    }
    // The versions of the server are higher than that of the deletion.
    rig.services.delete(read(&without_selector(2)));
    rig.services.deliver();
    if cached {
        rig.refresh("web").await;
    }
    assert!(rig.writes().await.is_empty());
    assert!(rig.stored("web").await.is_some());
}

/// The watch of Endpoints is behind that of Services.
#[tokio::test]
async fn endpoints_that_are_older_than_the_deletion_of_their_service_are_deleted() {
    let mut rig = Rig::start(&[without_selector(1)], &[], &[]).await;
    create(&rig, &restored(false, false)).await;
    rig.services.delete(read(&without_selector(LATER)));
    rig.services.deliver();
    assert_eq!(rig.writes().await, ["delete web 200"]);
}

/// A restore of etcd brings an object back that this process deleted.
#[rstest]
#[case::same_object(true)]
#[case::another_object(false)]
#[tokio::test]
async fn deleted_endpoints_that_a_relist_brings_back_are_deleted_again(#[case] same: bool) {
    let mut rig = Rig::start(&[web(1)], &[], &[]).await;
    rig.refresh("web").await;
    let mut stored = rig.stored("web").await.expect("created");
    rig.services.delete(read(&web(LATER)));
    rig.services.deliver();
    assert_eq!(rig.writes().await, ["create 201", "delete web 200"]);
    rig.endpoints.delete(stored.clone());
    rig.endpoints.deliver();
    if !same {
        stored.metadata.uid = "another".into();
    }
    rig.relist(stored).await;
    rig.endpoints.deliver();
    let expected: &[&str] = if same { &["delete web 404"] } else { &[] };
    assert_eq!(rig.writes().await[2..], *expected);
}

/// The list that the sweep at the start read was wrong: it lacked Endpoints that had lost their Service before.
// Simulation seeds 9252, 16116 and 19210.
#[rstest]
#[case::left_over("1000000", false, false, &["delete web 200"])]
#[case::lock("1000000", true, false, &[])]
#[case::newer_than_the_sweep("1", false, false, &[])]
#[case::the_list_of_services_was_wrong_as_well("1000000", false, true, &[])]
#[tokio::test]
async fn endpoints_that_the_list_of_the_sweep_lacked_are_deleted(
    #[case] swept: &str,
    #[case] leader: bool,
    #[case] has_service: bool,
    #[case] expected: &[&str],
) {
    let mut rig = Rig::start_at(swept).await;
    create(&rig, &restored(true, leader)).await;
    if has_service {
        rig.client.create::<core::Service>(&read(&sync::without_selector())).await.expect("created");
    }
    let stored = rig.stored("web").await.expect("created above");
    rig.relist(stored).await;
    rig.endpoints.deliver();
    assert_eq!(rig.writes().await, expected);
}

/// A create whose response is lost is possibly carried out after its Service was deleted.
#[tokio::test]
async fn an_unanswered_create_for_a_deleted_service_is_deleted() {
    let rig = Rig::start(&[], &[], &[]).await;
    let creates = On::any().verb("create").resource("endpoints").namespace(NAMESPACE);
    rig.server.faults().inject(Fault::apply_then_reset().on(creates.clone()).times(1));
    rig.service(&web(1));
    eventually("a create", &true, async || rig.server.requests().count(&creates) > 0).await;
    // Lower than the versions of the server: only the unanswered create explains the object.
    rig.services.delete(read(&web(2)));
    rig.services.deliver();
    eventually("the object is deleted", &true, async || rig.stored("web").await.is_none()).await;
}

/// A webhook that is down answers creates with 500, which may have been applied. What follows is not the controller's.
#[tokio::test]
async fn endpoints_that_a_user_creates_after_a_failed_create_are_kept() {
    let mut rig = Rig::start(&[], &[], &[]).await;
    let creates = On::any().verb("create").resource("endpoints").namespace(NAMESPACE).user_agent("controller");
    rig.server.faults().inject(Fault::reject(500).on(creates.clone()));
    rig.service(&web(1));
    eventually("a create", &true, async || rig.server.requests().count(&creates) > 0).await;
    rig.services.delete(read(&web(2)));
    rig.services.deliver();
    assert!(rig.writes().await.iter().all(|it| it == "create 500"));
    create(&rig, &restored(false, false)).await;
    rig.refresh("web").await;
    assert!(rig.writes().await.iter().all(|it| it == "create 500"));
    assert!(rig.stored("web").await.is_some());
}
