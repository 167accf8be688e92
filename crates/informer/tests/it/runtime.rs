//! Caches for operators that are written with `kube::runtime::Controller`, on the embedded API server in process. Tests
//! after a comment `kube:` assert what those tests of kube assert of its own controller, store and shared streams.

mod controllers;
mod own_writes;
mod stores;
mod subscribers;

use std::{collections::BTreeMap, sync::Arc};

use futures::{StreamExt as _, stream::BoxStream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api, Client, ResourceExt as _,
    core::ObjectMeta,
    runtime::reflector::{ObjectRef, Store},
};
use kube_dev_apiserver::{Config, Server};
use kube_endpoints_testing::LIMIT;
use kube_informer::runtime::{CachedResource, Caches};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::timeout};

/// A server, and running caches over it.
struct World {
    server: Server,
    caches: Caches,
    tasks: JoinSet<()>,
}

impl World {
    fn start() -> Self {
        Self::with(Caches::new)
    }

    fn with(caches: impl FnOnce(Client) -> Caches) -> Self {
        let server = Server::in_process(Config::default()).expect("a server");
        let caches = caches(Client::new(server.service(), "default"));
        let mut tasks = JoinSet::new();
        tasks.spawn(caches.run());
        Self { server, caches, tasks }
    }

    /// Creates config maps in the namespace `default` as another client.
    fn create<const N: usize>(&self, names: [&str; N]) -> [ConfigMap; N] {
        names.map(|name| self.server.typed().create(&config_map(name)).expect("created"))
    }

    /// Changes a config map as another client.
    fn patch(&self, name: &str, patch: &Value) -> ConfigMap {
        self.server.typed::<ConfigMap>().patch(name, patch).expect("patched")
    }

    /// Deletes a config map as another client.
    fn delete(&self, name: &str) {
        self.server.typed::<ConfigMap>().delete(name).expect("deleted");
    }

    /// Returns the operator's access to config maps.
    fn api(&self) -> Api<ConfigMap> {
        Api::namespaced(self.caches.client(), "default")
    }
}

/// Returns a config map with the label `app=web`.
fn config_map(name: &str) -> ConfigMap {
    let labels = Some(BTreeMap::from([("app".to_owned(), "web".to_owned())]));
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), labels, ..ObjectMeta::default() },
        ..ConfigMap::default()
    }
}

/// A Pod that is assigned to a node. Others cannot be decoded.
#[derive(Debug, Clone, serde::Deserialize)]
struct AssignedPod {
    metadata: ObjectMeta,
    #[serde(rename = "spec")]
    _spec: Assigned,
}

#[derive(Debug, Clone, serde::Deserialize)]
struct Assigned {
    #[serde(rename = "nodeName")]
    _node: String,
}

kube_informer::projection!(AssignedPod, Pod);

fn pod(name: &str, node: Option<&str>) -> Value {
    let containers = json!([{"name": "c", "image": "i"}]);
    json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": containers}})
}

fn reference<K: CachedResource>(name: &str) -> ObjectRef<K> {
    ObjectRef::new(name).within("default")
}

fn names<K: CachedResource>(store: &Store<K>) -> Vec<String> {
    let mut names: Vec<_> = store.state().iter().map(|it| it.name_any()).collect();
    names.sort();
    names
}

async fn until_ready<K: CachedResource>(store: &Store<K>) {
    timeout(LIMIT, store.wait_until_ready()).await.expect("a list").expect("running caches");
}

/// Waits for the next object of a stream. Returns its name; `None` at the end.
async fn next<K: CachedResource>(stream: &mut BoxStream<'_, Arc<K>>) -> Option<String> {
    timeout(LIMIT, stream.next()).await.expect("an object or the end").map(|object| object.name_any())
}
