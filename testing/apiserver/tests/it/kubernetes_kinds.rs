//! Kinds of Kubernetes that are not built in, added as custom kinds: how they differ from the real ones.

use k8s_openapi::api::apps::v1::{DaemonSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource};
use kube_dev_apiserver::{Config, CustomKind, Server};
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn stateful_set() -> CustomKind {
    let kind = CustomKind::new("apps", "v1", "StatefulSet").with_status();
    kind.with_scale(".spec.replicas", ".status.replicas", None)
}

#[rstest]
#[case::stateful_set(stateful_set(), StatefulSet::default())]
#[case::daemon_set(CustomKind::new("apps", "v1", "DaemonSet"), DaemonSet::default())]
#[case::ingress(CustomKind::new("networking.k8s.io", "v1", "Ingress").plural("ingresses"), Ingress::default())]
#[case::claim(CustomKind::new("", "v1", "PersistentVolumeClaim"), PersistentVolumeClaim::default())]
#[case::budget(CustomKind::new("policy", "v1", "PodDisruptionBudget"), PodDisruptionBudget::default())]
#[case::autoscaler(CustomKind::new("autoscaling", "v2", "HorizontalPodAutoscaler"), HorizontalPodAutoscaler::default())]
#[tokio::test]
async fn clients_and_tests_read_and_write_them<K>(#[case] kind: CustomKind, #[case] mut object: K)
where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()> + k8s_openapi::Resource,
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    let server = Server::in_process(Config { kinds: vec![kind.with_status()], ..Config::default() }).unwrap();
    let api: Api<K> = Api::default_namespaced(Client::new(server.service(), "default"));
    object.meta_mut().name = Some("web".to_owned());
    let created = api.create(&PostParams::default(), &object).await.unwrap();
    assert!(created.meta().uid.is_some());
    let status = json!({"status": {"conditions": []}});
    api.patch_status("web", &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
    let objects = server.typed::<K>();
    objects.patch_status("web", &json!({"status": {"conditions": null}})).unwrap();
    assert_eq!(objects.get("web").unwrap().meta().uid, created.meta().uid);
    api.delete("web", &DeleteParams::default()).await.unwrap();
    assert!(objects.get("web").is_err());
}

fn with_containers(containers: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {"serviceName": "db", "selector": {}, "template": {"spec": {"containers": containers}}},
    })
}

/// A real server sets defaults, accepts strategic merge patches, and merges the containers of two appliers by name.
#[tokio::test]
async fn no_defaults_no_strategic_merge_patch_and_atomic_lists() {
    let server = Server::in_process(Config { kinds: vec![stateful_set()], ..Config::default() }).unwrap();
    let sets: Api<StatefulSet> = Api::default_namespaced(Client::new(server.service(), "default"));
    let own = PatchParams::apply("operator");
    let main = with_containers(&json!([{"name": "main", "image": "db:1"}]));
    let applied = sets.patch("db", &own, &Patch::Apply(&main)).await.unwrap().spec.unwrap();
    assert_eq!((applied.replicas, applied.pod_management_policy), (None, None));

    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    let refused = sets.patch("db", &PatchParams::default(), &Patch::Strategic(&labels)).await.unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 415));
    let merged = sets.patch("db", &PatchParams::default(), &Patch::Merge(&labels)).await.unwrap();
    assert_eq!(merged.metadata.labels.unwrap()["a"], "b");

    let sidecar = with_containers(&json!([{"name": "sidecar"}]));
    let injector = PatchParams::apply("injector");
    let refused = sets.patch("db", &injector, &Patch::Apply(&sidecar)).await.unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.is_conflict()));
    let forced = sets.patch("db", &injector.force(), &Patch::Apply(&sidecar)).await.unwrap();
    let containers = forced.spec.unwrap().template.spec.unwrap().containers;
    assert_eq!(containers.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["sidecar"]);

    sets.patch_scale("db", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 3}}))).await.unwrap();
    assert_eq!(sets.get("db").await.unwrap().spec.unwrap().replicas, Some(3));
}
