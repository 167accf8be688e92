//! Changes of the controllers' objects by others are reverted.

use http::{Method, StatusCode};
use kube_dev_apiserver::{History, On};
use kube_endpoints_testing::eventually;
use serde_json::json;

use crate::cluster::Cluster;
use crate::process::{start_controllers, stop};

/// EC-26: an edit of Endpoints does not enqueue their Service; a relist of Services does.
#[tokio::test]
async fn hand_edited_endpoints_are_repaired_after_a_relist() {
    let cluster = Cluster::start().await;
    let child = start_controllers(&cluster, &["--controllers=endpoints-controller"]);
    cluster.web().await;
    let address = async || {
        let web = cluster.document("/api/v1/namespaces/default/endpoints/web").await.unwrap_or_default();
        web["subsets"][0]["addresses"][0]["ip"].as_str().map(str::to_owned)
    };
    let expected = Some("10.1.0.1".to_owned());
    eventually("the address", &expected, address).await;

    let edit = json!({"subsets": [{"addresses": [{"ip": "192.0.2.1"}]}]});
    let path = "/api/v1/namespaces/default/endpoints/web";
    assert_eq!(cluster.try_call(Method::PATCH, path, &edit).await, StatusCode::OK);
    assert_eq!(address().await.as_deref(), Some("192.0.2.1"));
    let watches = On::any().verb("watch").resource("services").user_agent("controller-manager");
    assert!(cluster.server.requests().count(&watches) > 0, "expected a watch of Services");
    cluster.server.restart(History::Lost);
    eventually("the address", &expected, address).await;
    stop(child).await;
    cluster.server.shutdown().await;
}
