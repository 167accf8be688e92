//! A cluster with Endpoints of all kinds, a plan for it, and what must hold after each run.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use kube_dev_apiserver::{Config, FieldTracking};
use kube_endpoints_retire::{ObjectState, Plan, PlannedObject, Verdict};
use serde_json::{Value, json};

use crate::cluster::{Cluster, Run};

/// Label of the objects that the endpoints controller manages.
pub(crate) const MANAGED: &str = "endpoints.kubernetes.io/managed-by";

/// The objects that a run may delete.
pub(crate) const DELETABLE: [&str; 7] = ["quiet/e", "shop/a", "shop/b", "shop/c", "shop/gone", "shop/typo", "shop/web"];

/// Managed objects that no run may delete, although a plan may call them safe.
pub(crate) const PROTECTED: [&str; 5] = ["default/kubernetes", "shop/edited", "shop/held", "shop/lock", "shop/moved"];

/// Objects by namespace and name.
type Objects = BTreeMap<String, Value>;

/// A cluster whose endpoints controller is off.
pub(crate) struct Scene {
    pub(crate) cluster: Cluster,
    /// The Endpoints before all runs.
    before: Objects,
    slices: Objects,
}

fn endpoints(namespace: &str, name: &str, managed: bool, metadata: &Value) -> Value {
    let subsets =
        json!([{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}]);
    let mut object = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata, "subsets": subsets});
    object["metadata"]["namespace"] = json!(namespace);
    object["metadata"]["name"] = json!(name);
    if managed {
        object["metadata"]["labels"][MANAGED] = json!("endpoint-controller");
    }
    object
}

fn service(namespace: &str, name: &str, selector: Option<&str>) -> Value {
    let mut spec = json!({"ports": [{"name": "http", "port": 80, "targetPort": 8080}]});
    if let Some(app) = selector {
        spec["selector"] = json!({"app": app});
    }
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": namespace, "name": name}, "spec": spec})
}

impl Scene {
    /// Starts a server that allows every request.
    pub(crate) async fn start() -> Scene {
        Scene::start_with(Config::default()).await
    }

    /// Starts the cluster. What the controllers would create is what `diff` shows.
    pub(crate) async fn start_with(config: Config) -> Scene {
        let lock = json!({"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}});
        let (none, held) = (json!({}), json!({"finalizers": ["example.com/wait"]}));
        let objects = [
            service("shop", "a", Some("web")),
            service("shop", "b", Some("web")),
            service("shop", "c", Some("web")),
            service("quiet", "e", Some("web")),
            service("shop", "edited", Some("web")),
            service("shop", "held", Some("web")),
            service("shop", "db", None),
            service("shop", "moved", None),
            service("default", "kubernetes", None),
            // Of a user, and mirrored.
            endpoints("shop", "db", false, &none),
            // Its Service had a selector. It is mirrored.
            endpoints("shop", "moved", true, &none),
            endpoints("shop", "lock", true, &lock),
            endpoints("shop", "held", true, &held),
            endpoints("shop", "edited", true, &none),
            endpoints(
                "default",
                "kubernetes",
                true,
                &json!({"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}),
            ),
        ];
        // The slices of deleted Endpoints go with them.
        let config = Config { field_tracking: FieldTracking::Always, garbage_collection: true, ..config };
        let cluster = Cluster::start_with(config, objects).await;
        // Created by a client, and so with managed fields.
        let client = cluster.server.typed_as::<Value>("", "endpoints").namespace("shop");
        client.create(&endpoints("shop", "gone", true, &none)).expect("created");
        let run = cluster.run("diff -A -o json").await;
        let changes = run.json();
        let created = changes["items"].as_array().expect("items").iter().filter(|it| it["before"].is_null());
        let created = created.enumerate().map(|(number, change)| {
            let mut object = change["after"].clone();
            if object["metadata"]["generateName"].is_string() {
                object["metadata"]["name"] =
                    json!(format!("{}{number}", object["metadata"]["generateName"].as_str().expect("text")));
            }
            object
        });
        cluster.server.load(created).expect("valid objects");
        let mut scene = Scene { cluster, before: Objects::new(), slices: Objects::new() };
        (scene.before, scene.slices) = (scene.endpoints(), scene.objects("discovery.k8s.io", "endpointslices"));
        let mirrored = scene.slices.keys().filter(|key| key.starts_with("shop/db-") || key.starts_with("shop/moved-"));
        assert_eq!(mirrored.count(), 2, "{:?}", scene.slices.keys());
        assert!(scene.before["shop/gone"]["metadata"]["managedFields"].is_array());
        scene
    }

    fn objects(&self, group: &str, plural: &str) -> Objects {
        let name = |object: &Value, field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let key = |object: &Value| format!("{}/{}", name(object, "namespace"), name(object, "name"));
        self.cluster.server.objects(group, plural).into_iter().map(|object| (key(&object), object)).collect()
    }

    /// Returns the Endpoints as they are now.
    pub(crate) fn endpoints(&self) -> Objects {
        self.objects("", "endpoints")
    }

    /// Returns a plan of now that calls all managed objects safe, but for some.
    pub(crate) fn plan(&self, not_safe: &[&str]) -> Plan {
        let endpoints = self.endpoints();
        let managed =
            endpoints.iter().filter(|(_, object)| object["metadata"]["labels"][MANAGED] == "endpoint-controller");
        let planned = managed.map(|(key, object)| {
            let (namespace, name) = key.split_once('/').expect("a namespace");
            let text = |field: &str| object["metadata"][field].as_str().expect("text").to_owned();
            let because = vec!["somebody reads it".to_owned()];
            PlannedObject {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                uid: text("uid"),
                resource_version: text("resourceVersion"),
                state: if ["gone", "moved"].contains(&name) { ObjectState::LeftOver } else { ObjectState::Current },
                verdict: if not_safe.contains(&key.as_str()) { Verdict::NotSafe { because } } else { Verdict::Safe },
            }
        });
        let system = self.cluster.server.object("", "namespaces", "", "kube-system").expect("a namespace");
        let uid = system["metadata"]["uid"].as_str().expect("a UID").to_owned();
        let plan = json!({"apiVersion": "retire/v1", "created": kube_ambient::now(), "cluster": {"uid": uid},
            "verdict": {"answer": "safe"}, "objects": planned.collect::<Vec<_>>()});
        serde_json::from_value(plan).expect("a plan")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.cluster.folder().join(name)
    }

    /// Writes a plan, and returns the command that applies it without waiting, in batches of two.
    pub(crate) fn apply(&self, plan: &Plan, backup: &str) -> String {
        let path = self.path("plan.json");
        fs::write(&path, serde_json::to_vec(plan).expect("JSON")).expect("written");
        let (plan, backup) = (path.display(), self.path(backup).display().to_string());
        format!(
            "retire apply --plan {plan} --backup {backup} --controller-off=kube-controller-manager --quiet=0 --pause=0 --batch-size=2"
        )
    }

    pub(crate) async fn undo(&self, backup: &str) -> Run {
        self.cluster.run(&format!("retire undo --from {}", self.path(backup).display())).await
    }

    /// Asserts that each deleted object is in the backup as it was, and that nothing else has changed. Returns the deleted ones.
    pub(crate) fn assert_safe(&self, planned: &Objects, backup: &str) -> Vec<String> {
        let now = self.endpoints();
        let text = fs::read_to_string(self.path(backup)).unwrap_or_default();
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let deleted: Vec<String> = planned.keys().filter(|key| !now.contains_key(*key)).cloned().collect();
        for key in &deleted {
            assert!(DELETABLE.contains(&key.as_str()), "{key} was deleted");
            assert!(lines.contains(&planned[key]), "{key} is not in the file as it was: {text}");
        }
        for (key, object) in &now {
            assert_eq!(planned.get(key), Some(object), "{key} has changed");
        }
        assert_eq!(self.objects("discovery.k8s.io", "endpointslices"), self.slices, "slices have changed");
        deleted
    }

    /// Asserts that all Endpoints are as before all runs, but for what the API server sets.
    pub(crate) fn assert_restored(&self) {
        let without = |objects: &Objects| {
            let mut objects = objects.clone();
            for object in objects.values_mut() {
                let metadata = object["metadata"].as_object_mut().expect("metadata");
                let of_server = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"];
                metadata.retain(|field, _| !of_server.contains(&field.as_str()));
            }
            objects
        };
        assert_eq!(without(&self.endpoints()), without(&self.before));
        assert_eq!(self.objects("discovery.k8s.io", "endpointslices"), self.slices, "slices have changed");
    }
}
