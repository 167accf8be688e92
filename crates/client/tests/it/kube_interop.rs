//! Configurations and clients of `kube`.

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube_controller_client::{Config, WatchParams};
use kube_dev_apiserver::{Fault, On, Server, Transport, User};

use crate::cluster::{CONFIG_MAPS, client_of, config_map};

/// Starts a server with TLS, and returns it with a configuration of `kube` for user alice.
async fn start() -> (Server, kube::Config) {
    let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.expect("succeeds");
    let kubeconfig = Kubeconfig::from_yaml(&server.kubeconfig_for(User::new("alice"))).expect("succeeds");
    let config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("succeeds");
    (server, config)
}

#[tokio::test]
async fn configuration_of_kube_is_used() {
    let (server, config) = start().await;
    let config = Config::try_from(config).expect("succeeds");
    assert_eq!(config.server(), format!("{}/", server.url()));
    client_of(&config).create(&config_map("a")).await.expect("succeeds");
    let requests = server.requests().matching(&On::writes());
    assert_eq!((requests[0].user.as_str(), requests[0].object_name.as_str()), ("alice", "a"));
    server.shutdown().await;
}

#[tokio::test]
async fn requests_go_through_a_client_of_kube() {
    let (server, mut config) = start().await;
    config.default_namespace = "shop".to_owned();
    let config = Config::from_kube_client(kube::Client::try_from(config).expect("succeeds"));
    assert_eq!(config.default_namespace(), "shop");
    let client = client_of(&config);
    let params = WatchParams { resource_version: "0".into(), ..WatchParams::default() };
    let mut watch = client.watch(&CONFIG_MAPS, Some("default"), &params).await.expect("succeeds");
    let created = client.create(&config_map("a")).await.expect("succeeds");
    assert!(created.metadata.uid.is_some());
    let event = watch.next().await.expect("succeeds").expect("succeeds");
    assert!(!event.is_empty(), "the first event of the watch");
    assert!(client.get::<ConfigMap>("default", "b").await.expect_err("succeeded").is_not_found());
    assert!(client.create(&config_map("a")).await.expect_err("succeeded").is_already_exists());
    assert!(server.requests().all().iter().all(|request| request.user == "alice"));
    server.shutdown().await;
}

#[tokio::test]
async fn lost_answer_of_a_client_of_kube_may_have_been_applied() {
    let (server, config) = start().await;
    let client = client_of(&Config::from_kube_client(kube::Client::try_from(config).expect("succeeds")));
    server.faults().inject(Fault::apply_then_reset().on(On::writes()).times(1));
    let error = client.create(&config_map("a")).await.expect_err("succeeded");
    assert!(error.may_have_been_applied(), "{error:?}");
    client.get::<ConfigMap>("default", "a").await.expect("succeeds");
    server.shutdown().await;
}
