//! Helpers that change single objects: finalizers, events, `/scale` and conditions to wait for.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use futures::future::join;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Event as CoreEvent, Pod};
use k8s_openapi::api::events::v1::Event as StoredEvent;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::conditions::{is_deleted, is_pod_running};
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{Event as Finalize, finalizer};
use kube::runtime::wait::await_condition;
use kube::{Api, Error, Resource as _, ResourceExt as _};
use serde_json::json;

use super::{Kube, config_map, pod, soon};

const FINALIZER: &str = "example.com/clean-up";

#[tokio::test]
async fn finalizer_is_added_first_and_removed_after_the_clean_up() {
    let kube = Kube::start().await;
    let maps = kube.config_maps();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let reconcile = async || {
        let object = Arc::new(maps.get("a").await.unwrap());
        let seen = |event| {
            let name = match event {
                Finalize::Apply(it) => format!("apply {}", ConfigMap::name_any(&it)),
                Finalize::Cleanup(it) => format!("clean up {}", ConfigMap::name_any(&it)),
            };
            calls.lock().unwrap().push(name);
            async { Ok::<_, Infallible>(Action::await_change()) }
        };
        finalizer(&maps, FINALIZER, object, seen).await.unwrap();
    };

    maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    reconcile().await;
    assert_eq!(maps.get("a").await.unwrap().finalizers(), [FINALIZER], "added before anything is applied");
    reconcile().await;
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(maps.get("a").await.unwrap().meta().deletion_timestamp.is_some(), "kept until the clean-up");
    reconcile().await;
    assert!(maps.get_opt("a").await.unwrap().is_none());
    assert_eq!(*calls.lock().unwrap(), ["apply a", "clean up a"]);
}

#[tokio::test]
async fn conditions_are_awaited() {
    let kube = Kube::start().await;
    let pods = kube.pods();
    let uid = pods.create(&PostParams::default(), &pod("a")).await.unwrap().uid().unwrap();
    let status = Patch::Merge(json!({"status": {"phase": "Running"}}));
    let params = PatchParams::default();
    let running = Box::pin(await_condition(pods.clone(), "a", is_pod_running()));
    let (running, _) = soon(join(running, Box::pin(pods.patch_status("a", &params, &status)))).await;
    assert_eq!(running.unwrap().unwrap().status.unwrap().phase.as_deref(), Some("Running"));

    let params = DeleteParams::default();
    let deleted = Box::pin(await_condition(pods.clone(), "a", is_deleted::<Pod>(&uid)));
    let (deleted, _) = soon(join(deleted, Box::pin(pods.delete("a", &params)))).await;
    deleted.unwrap();
}

#[tokio::test]
async fn repeated_events_become_a_series() {
    let kube = Kube::start().await;
    let pod = kube.pods().create(&PostParams::default(), &pod("a")).await.unwrap();
    let recorder = Recorder::new(kube.client.clone(), Reporter { controller: "it".into(), instance: None });
    let event = Event {
        type_: EventType::Warning,
        reason: "Slow".into(),
        note: Some("took 3 s".into()),
        action: "Waiting".into(),
        secondary: None,
    };
    for _ in 0..3 {
        recorder.publish(&event, &pod.object_ref(&())).await.unwrap();
    }
    let events: Api<StoredEvent> = Api::default_namespaced(kube.client.clone());
    let stored = events.list(&ListParams::default()).await.unwrap().items;
    let [stored] = &*stored else { panic!("{stored:?}") };
    assert_eq!((stored.reason.as_deref(), stored.type_.as_deref()), (Some("Slow"), Some("Warning")));
    assert_eq!(stored.series.as_ref().map(|it| it.count), Some(3));

    // As `kubectl describe pod` finds them.
    let events: Api<CoreEvent> = Api::default_namespaced(kube.client.clone());
    let of_the_pod = ListParams::default().fields("involvedObject.name=a,involvedObject.kind=Pod");
    let described = events.list(&of_the_pod).await.unwrap().items;
    let [described] = &*described else { panic!("{described:?}") };
    assert_eq!((described.uid(), described.resource_version()), (stored.uid(), stored.resource_version()));
    assert_eq!(
        (described.message.as_deref(), described.reporting_component.as_deref()),
        (Some("took 3 s"), Some("it"))
    );
}

#[tokio::test]
async fn scale_changes_the_replicas() {
    let kube = Kube::start().await;
    let deployments: Api<Deployment> = Api::default_namespaced(kube.client.clone());
    let deployment = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        },
    }));
    deployments.create(&PostParams::default(), &deployment.unwrap()).await.unwrap();
    let mut scale = deployments.get_scale("web").await.unwrap();
    assert_eq!(scale.spec.as_ref().unwrap().replicas, Some(1), "the default");
    assert_eq!(scale.status.as_ref().unwrap().selector.as_deref(), Some("app=web"));
    let patched = deployments
        .patch_scale("web", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 3}})))
        .await
        .unwrap();
    assert_eq!(patched.spec.unwrap().replicas, Some(3));
    assert_eq!(deployments.get("web").await.unwrap().spec.unwrap().replicas, Some(3));
    let stale = deployments.replace_scale("web", &PostParams::default(), &scale).await.unwrap_err();
    assert!(matches!(&stale, Error::Api(status) if status.code == 409), "{stale}");
    scale.metadata.resource_version = None;
    scale.spec.as_mut().unwrap().replicas = Some(5);
    let replaced = deployments.replace_scale("web", &PostParams::default(), &scale).await.unwrap();
    assert_eq!(replaced.spec.unwrap().replicas, Some(5));
}
