//! An API server in the test process, for tests in paused time.

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;
use serde_json::json;

/// Returns a server with the `ConfigMap` `default/a`, and a client without sockets.
pub(crate) fn in_process() -> (Server, Client) {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).unwrap();
    let object = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    server.typed::<ConfigMap>().create(&object).unwrap();
    let client = another_client(&server);
    (server, client)
}

pub(crate) fn another_client(server: &Server) -> Client {
    Client::new(&Config::from_service(server.service()), ClientOptions::default()).unwrap()
}
