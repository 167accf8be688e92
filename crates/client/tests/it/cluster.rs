//! Fixtures: an API server, a client for it, and an object.

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;

/// Starts an API server; returns it with a client without rate limit.
pub(crate) async fn cluster() -> (Server, Client) {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("start server");
    let client = client(&server.url());
    (server, client)
}

pub(crate) fn client(url: &str) -> Client {
    let config = Config::from_url(url).expect("valid URL");
    Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("create client")
}

pub(crate) fn config_map(name: &str) -> ConfigMap {
    let (name, namespace) = (Some(name.to_owned()), Some("default".to_owned()));
    ConfigMap { metadata: ObjectMeta { name, namespace, ..ObjectMeta::default() }, ..ConfigMap::default() }
}
