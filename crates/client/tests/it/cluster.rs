//! Fixtures: an API server, a client for it, a kubeconfig, resources, and an object.

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, ClientOptions, Config, Resource};
use kube_dev_apiserver::Server;

pub(crate) const CONFIG_MAPS: Resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
pub(crate) const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

/// Starts an API server; returns it with a client without rate limit.
pub(crate) async fn cluster() -> (Server, Client) {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("start server");
    let client = client(&server.url());
    (server, client)
}

pub(crate) fn client(url: &str) -> Client {
    client_of(&Config::from_url(url).expect("valid URL"))
}

/// Returns a client without rate limit.
pub(crate) fn client_of(config: &Config) -> Client {
    Client::new(config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("create client")
}

pub(crate) fn config_map(name: &str) -> ConfigMap {
    let (name, namespace) = (Some(name.to_owned()), Some("default".to_owned()));
    ConfigMap { metadata: ObjectMeta { name, namespace, ..ObjectMeta::default() }, ..ConfigMap::default() }
}

/// Returns a kubeconfig with these fields of a cluster and a user.
pub(crate) fn kubeconfig(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: dev\n\
         contexts: [{{name: dev, context: {{cluster: dev, user: dev}}}}]\n\
         clusters: [{{name: dev, cluster: {{{cluster}}}}}]\n\
         users: [{{name: dev, user: {{{user}}}}}]\n"
    )
}
