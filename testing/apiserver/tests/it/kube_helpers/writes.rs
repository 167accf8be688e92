//! Ways of writing: `/status`, `/scale` and strategic merge patches.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Error};
use serde_json::json;

use super::{Kube, pod};

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
