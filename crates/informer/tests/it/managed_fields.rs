//! Managed fields that the server leaves out.

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{FieldTracking, Server};
use kube_informer::Informer;

use crate::{server::run, thing::Thing};

/// Returns how many bytes the server sends until the store of an informer is filled.
async fn sent_until_sync(managed_fields_opt_out: bool) -> u64 {
    let config = kube_dev_apiserver::Config {
        field_tracking: FieldTracking::Always,
        managed_fields_opt_out,
        ..kube_dev_apiserver::Config::default()
    };
    let server = Server::start(config).await.expect("a server");
    let config = Config::from_url(&server.url()).expect("a valid URL");
    let client = |user_agent: &str| {
        Client::new(&config, ClientOptions { user_agent: user_agent.to_owned(), ..ClientOptions::default() })
            .expect("a client")
    };
    let metadata = ObjectMeta {
        name: Some("many-keys".to_owned()),
        namespace: Some("default".to_owned()),
        ..ObjectMeta::default()
    };
    let data = Some((0..200).map(|key| (format!("key-{key}"), String::new())).collect());
    client("writer").create(&ConfigMap { metadata, data, ..ConfigMap::default() }).await.expect("created");
    let informer: Informer<Thing> = Informer::builder(client("informer")).namespace("default").build();
    let tasks = run(&informer).await;
    let sent = server.traffic().iter().filter(|it| it.user_agent == "informer").map(|it| it.sent).sum();
    drop(tasks);
    server.shutdown().await;
    sent
}

#[tokio::test]
async fn are_not_sent_to_a_type_that_does_not_read_them() {
    let (with, without) = (sent_until_sync(false).await, sent_until_sync(true).await);
    assert!(without + 2_000 < with, "{with} bytes with, {without} bytes without them");
}
