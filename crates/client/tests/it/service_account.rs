//! Authentication as a service account.

use http::Method;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Fault, LoggedRequest, On, Server};

use crate::cluster::{cluster, config_map};

/// Returns a client that authenticates as the service account `writer`.
fn acting(server: &Server, asking: Client, namespace: &str) -> Client {
    let config = Config::from_url(&server.url()).expect("valid URL");
    let config = config.as_service_account(asking, namespace, "writer");
    Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("create client")
}

fn tokens() -> On {
    On::any().verb("create").resource("serviceaccounts").subresource("token")
}

fn writes(server: &Server) -> Vec<LoggedRequest> {
    server.requests().matching(&On::writes().resource("configmaps"))
}

async fn make_account(client: &Client) {
    let (namespace, name) = (Some("kube-system".to_owned()), Some("writer".to_owned()));
    let metadata = ObjectMeta { namespace, name, ..ObjectMeta::default() };
    client.create(&ServiceAccount { metadata, ..ServiceAccount::default() }).await.expect("create");
}

#[tokio::test]
async fn one_token_serves_many_requests_at_once() {
    let (server, asking) = cluster().await;
    make_account(&asking).await;
    let client = acting(&server, asking, "kube-system");
    let names: Vec<String> = (0..20).map(|number| format!("web-{number}")).collect();
    let created = names.iter().map(|name| async { client.create(&config_map(name)).await });
    assert!(futures::future::join_all(created).await.iter().all(Result::is_ok));

    let writes = writes(&server);
    assert_eq!(writes.len(), names.len());
    assert!(writes.iter().all(|it| it.user == "system:serviceaccount:kube-system:writer"), "{writes:?}");
    assert_eq!(server.requests().count(&tokens()), 1);
    let made = On::any().verb("create").resource("serviceaccounts").subresource("");
    assert_eq!(server.requests().count(&made), 1, "one create, by the test");
    server.shutdown().await;
}

#[tokio::test]
async fn the_account_and_its_namespace_are_made_where_there_are_none() {
    let (server, asking) = cluster().await;
    let client = acting(&server, asking.clone(), "shop");
    client.create(&config_map("web")).await.expect("create");
    asking.get::<ServiceAccount>("shop", "writer").await.expect("get service account");
    server.shutdown().await;
}

#[tokio::test]
async fn somebody_else_may_be_faster_to_make_the_account() {
    let (server, asking) = cluster().await;
    make_account(&asking).await;
    server.faults().inject(Fault::refuse(404).on(On::any().verb("get").resource("serviceaccounts")).times(1));
    let client = acting(&server, asking, "kube-system");
    client.create(&config_map("web")).await.expect("create");
    let made = On::any().verb("create").resource("serviceaccounts").subresource("");
    assert_eq!(
        server.requests().count(&made),
        2,
        "one create by the test, and one by the client that gets AlreadyExists"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn who_may_not_make_namespaces_uses_those_there_are() {
    let (server, asking) = cluster().await;
    server.faults().inject(Fault::refuse(403).on(On::writes().resource("namespaces")));
    server.faults().inject(Fault::refuse(404).on(On::any().verb("get").resource("namespaces")));
    let client = acting(&server, asking, "kube-system");
    client.create(&config_map("web")).await.expect("create");
    assert_eq!(server.requests().count(&On::writes().resource("namespaces")), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn a_token_that_is_no_longer_good_is_replaced() {
    let (server, asking) = cluster().await;
    let client = acting(&server, asking.clone(), "kube-system");
    client.create(&config_map("web")).await.expect("create");
    // The account is recreated with a new UID, which invalidates the old token.
    asking.delete::<ServiceAccount>("kube-system", "writer", None).await.expect("delete");
    let refused = client.create(&config_map("db")).await.expect_err("old token was accepted");
    assert_eq!(refused.status().map(|status| status.code), Some(401), "{refused}");
    client.create(&config_map("db")).await.expect("create with a new token");
    assert_eq!(server.requests().count(&tokens()), 2);
    server.shutdown().await;
}

#[tokio::test]
async fn without_a_token_nothing_is_sent_and_the_reason_is_said() {
    let (server, asking) = cluster().await;
    server.faults().inject(Fault::refuse(403).on(tokens()));
    let client = acting(&server, asking, "kube-system");
    // The first attempt is rejected by the server, the second fails during the back-off.
    for attempt in 0..2 {
        let error = client.create(&config_map("web")).await.expect_err("request was sent").to_string();
        assert!(
            error.contains("no token for service account kube-system/writer: create serviceaccounts/token"),
            "{attempt}: {error}"
        );
    }
    assert_eq!(writes(&server), []);
    server.shutdown().await;
}

#[tokio::test]
async fn nothing_of_the_own_identity_is_left() {
    let (server, asking) = cluster().await;
    let folder = tempfile::tempdir().expect("tempdir");
    let path = folder.path().join("kubeconfig");
    let owner = kube_dev_apiserver::User::new("alice").group("system:masters");
    std::fs::write(&path, server.kubeconfig_for(owner)).expect("write kubeconfig");
    let config = Config::from_kubeconfig(&path).await.expect("load kubeconfig");
    let account = config.as_service_account(asking, "kube-system", "writer");
    let client = Client::new(&account, ClientOptions::default()).expect("create client");
    client.raw(Method::GET, "/api/v1/namespaces/default/configmaps", None, vec![]).await.expect("request");
    let _ = client.get::<ConfigMap>("default", "web").await;
    let users: Vec<String> =
        server.requests().matching(&On::any().resource("configmaps")).into_iter().map(|it| it.user).collect();
    assert_eq!(users, ["system:serviceaccount:kube-system:writer"; 2]);
    server.shutdown().await;
}
