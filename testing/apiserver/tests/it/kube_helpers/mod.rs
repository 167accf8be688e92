//! The helpers of kube 5, against what they do on a real server.

mod objects;
mod streams;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use kube_dev_apiserver::{Config, Server};
use serde_json::json;
use tokio::time::timeout;

use crate::client::LIMIT;

/// A server, and a client of kube that was configured by the server's kubeconfig.
struct Kube {
    server: Server,
    client: Client,
}

impl Kube {
    async fn start() -> Self {
        let server = Server::start(Config::default()).await.unwrap();
        let kubeconfig = Kubeconfig::from_yaml(&server.kubeconfig()).unwrap();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        let client = Client::try_from(config).unwrap();
        Self { server, client }
    }

    fn pods(&self) -> Api<Pod> {
        Api::default_namespaced(self.client.clone())
    }

    fn config_maps(&self) -> Api<ConfigMap> {
        Api::default_namespaced(self.client.clone())
    }
}

fn pod(name: &str) -> Pod {
    let spec = json!({"containers": [{"name": "app", "image": "app:1"}]});
    serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec})).unwrap()
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"key": value}})).unwrap()
}

/// Waits at most [`LIMIT`].
async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.expect("an end")
}
