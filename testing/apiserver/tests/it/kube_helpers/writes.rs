//! Ways of writing: server-side apply with several managers, `/status`, `/scale` and strategic merge patches.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Error};
use serde_json::{Value, json};

use super::{Kube, pod};

fn apply(manager: &str) -> PatchParams {
    PatchParams::apply(manager)
}

#[tokio::test]
async fn managers_conflict_share_and_give_up_fields() {
    let kube = Kube::start().await;
    let maps = kube.config_maps();
    let body = |data: Value| Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data}));
    maps.patch("a", &apply("one"), &body(json!({"x": "1", "y": "1"}))).await.unwrap();
    let Error::Api(conflict) = maps.patch("a", &apply("two"), &body(json!({"x": "2"}))).await.unwrap_err() else {
        panic!("an answer of the server")
    };
    assert_eq!((conflict.code, conflict.reason.as_str()), (409, "Conflict"));
    assert_eq!(conflict.message, "Apply failed with 1 conflict: conflict with \"one\": .data.x");

    let forced = maps.patch("a", &apply("two").force(), &body(json!({"x": "2"}))).await.unwrap();
    assert_eq!(forced.data.unwrap(), [("x".to_owned(), "2".to_owned()), ("y".to_owned(), "1".to_owned())].into());
    // The first manager no longer applies `y`, of which it was the only owner, nor `x`, which the second owns now.
    let left = maps.patch("a", &apply("one"), &body(json!({}))).await.unwrap();
    assert_eq!(left.data.unwrap(), [("x".to_owned(), "2".to_owned())].into());
}

#[tokio::test]
async fn apply_needs_a_manager() {
    let kube = Kube::start().await;
    let body = Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap"}));
    let refused = kube.config_maps().patch("a", &PatchParams::default(), &body).await.unwrap_err();
    assert!(matches!(&refused, Error::Api(status) if status.code == 400 || status.code == 422), "{refused}");
}

#[tokio::test]
async fn status_is_written_apart() {
    let kube = Kube::start().await;
    let pods = kube.pods();
    let mut stored = pods.create(&PostParams::default(), &pod("a")).await.unwrap();
    stored.status = serde_json::from_value(json!({"phase": "Running", "podIP": "10.0.0.1"})).unwrap();
    stored.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
    let updated = pods.replace_status("a", &PostParams::default(), &stored).await.unwrap();
    assert_eq!(updated.status.unwrap().pod_ip.as_deref(), Some("10.0.0.1"));
    let ignored = Patch::Merge(json!({"status": {"phase": "Failed"}}));
    let unchanged = pods.patch("a", &PatchParams::default(), &ignored).await.unwrap();
    assert_eq!(unchanged.status.unwrap().phase.as_deref(), Some("Running"));
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

/// Lists with a merge key are merged by it: containers by name, ports of a Service by number.
#[tokio::test]
async fn strategic_merges_follow_the_keys_of_the_kind() {
    let kube = Kube::start().await;
    let pods = kube.pods();
    pods.create(&PostParams::default(), &pod("a")).await.unwrap();
    let image = Patch::Strategic(json!({"spec": {"containers": [{"name": "app", "image": "app:2"}]}}));
    let patched: Pod = pods.patch("a", &PatchParams::default(), &image).await.unwrap();
    let containers = patched.spec.unwrap().containers;
    assert_eq!((containers.len(), containers[0].image.as_deref()), (1, Some("app:2")));

    let services: Api<Service> = Api::default_namespaced(kube.client.clone());
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    let service = serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": {"ports": ports}}));
    services.create(&PostParams::default(), &service.unwrap()).await.unwrap();
    let delete =
        Patch::Strategic(json!({"spec": {"ports": [{"port": 80, "$patch": "delete"}, {"port": 82, "name": "c"}]}}));
    let patched = services.patch("web", &PatchParams::default(), &delete).await.unwrap();
    let mut names: Vec<_> = patched.spec.unwrap().ports.unwrap().into_iter().filter_map(|it| it.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["b", "c"]);
}
