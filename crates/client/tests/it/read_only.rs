//! A read-only client sends no write.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, ClientOptions, Config, Error, ListParams, WatchParams};
use kube_dev_apiserver::On;
use serde_json::json;
use tokio::time::Instant;

use crate::cluster::{CONFIG_MAPS, cluster, config_map};

#[tokio::test]
async fn a_read_only_client_sends_no_write_and_does_not_retry() {
    let (server, writer) = cluster().await;
    writer.create(&config_map("web")).await.unwrap();
    let options = ClientOptions { user_agent: "reader".into(), read_only: true, ..ClientOptions::default() };
    let reader = Client::new(&Config::from_url(&server.url()).unwrap(), options).unwrap();
    reader.get::<ConfigMap>("default", "web").await.expect("reads are allowed");
    reader.list(&CONFIG_MAPS, None, &ListParams::default()).await.expect("lists are allowed");
    reader.watch(&CONFIG_MAPS, None, &WatchParams::default()).await.expect("watches are allowed");

    tokio::time::pause();
    let started = Instant::now();
    let errors = [
        reader.create(&config_map("db")).await.unwrap_err(),
        reader.create_virtual(&config_map("db")).await.unwrap_err(),
        reader.update(&config_map("web")).await.unwrap_err(),
        reader.merge_patch::<ConfigMap>("default", "web", None, &json!({})).await.unwrap_err(),
        reader.delete::<ConfigMap>("default", "web", None).await.unwrap_err(),
        reader.raw(http::Method::POST, "/api/v1/namespaces", None, Vec::new()).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, Error::ReadOnly { .. }) && !error.may_have_been_applied(), "{error:?}");
    }
    assert_eq!(started.elapsed(), Duration::ZERO, "no retry is waited for");
    tokio::time::resume();
    let writes = On::writes().user_agent("reader");
    assert_eq!(server.requests().count(&writes), 0);
    server.shutdown().await;
}
