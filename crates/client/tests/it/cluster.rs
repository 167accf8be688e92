//! An API server and a client for it.

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;

/// A fresh API server, and a client for it without limits.
pub(crate) async fn cluster() -> (Server, Client) {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("a server");
    let client = client(&server.url());
    (server, client)
}

pub(crate) fn client(url: &str) -> Client {
    let config = Config::from_url(url).expect("a good URL");
    Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("a client")
}

/// A `ConfigMap` in the namespace `default`.
pub(crate) fn config_map(name: &str) -> ConfigMap {
    let (name, namespace) = (Some(name.to_owned()), Some("default".to_owned()));
    ConfigMap { metadata: ObjectMeta { name, namespace, ..ObjectMeta::default() }, ..ConfigMap::default() }
}
