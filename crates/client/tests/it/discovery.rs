//! Resources that are known only at run time, and separate clients.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, Error, Resource, Timeouts, WriteGate};
use kube_dev_apiserver::{CustomKind, Server};
use rstest::rstest;
use tokio::time::Instant;

use crate::cluster::{client, cluster, config_map};

async fn widgets() -> (Server, Client) {
    let kinds = vec![CustomKind::new("example.com", "v1", "Widget")];
    let config = kube_dev_apiserver::Config { kinds, ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.expect("a server");
    let client = client(&server.url());
    (server, client)
}

#[rstest]
#[case::custom("example.com/v1", "Widget", Some(Resource::namespaced("example.com", "v1", "widgets", "Widget")))]
#[case::core("v1", "Pod", Some(Resource::namespaced("", "v1", "pods", "Pod")))]
#[case::of_the_cluster("v1", "Node", Some(Resource::cluster("", "v1", "nodes", "Node")))]
#[case::unknown_kind("example.com/v1", "Gadget", None)]
#[case::unknown_version("example.com/v2", "Widget", None)]
#[case::unknown_group("elsewhere.example.com/v1", "Widget", None)]
#[tokio::test]
async fn resources_are_discovered(#[case] api_version: &str, #[case] kind: &str, #[case] expected: Option<Resource>) {
    let (server, client) = widgets().await;
    assert_eq!(client.discover(api_version, kind).await.unwrap(), expected);
    server.shutdown().await;
}

struct Closed;

impl WriteGate for Closed {
    fn open_until(&self) -> Option<Instant> {
        None
    }
}

#[tokio::test]
async fn a_separate_client_has_no_gate() {
    let (server, client) = cluster().await;
    let gated = client.gated(Arc::new(Closed));
    assert!(gated.is_gated() && !client.is_gated());
    assert!(matches!(gated.create(&config_map("a")).await, Err(Error::Gated { .. })));
    let separate = gated.separate(Timeouts::default()).unwrap();
    assert!(!separate.is_gated());
    separate.create(&config_map("a")).await.unwrap();
    gated.get::<ConfigMap>("default", "a").await.unwrap();
    server.shutdown().await;
}
