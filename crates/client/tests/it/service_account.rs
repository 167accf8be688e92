//! Authentication as a service account.

use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use http::Method;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Client, Config};
use kube_dev_apiserver::{Fault, LoggedRequest, On, Server};
use tokio::time::{Instant, sleep};

use crate::cluster::{client_of, cluster, config_map};

fn client_of_account(server: &Server, admin: Client, namespace: &str) -> Client {
    let config = Config::from_url(&server.url()).expect("valid URL");
    client_of(&config.as_service_account(admin, namespace, "writer"))
}

fn token_requests() -> On {
    On::any().verb("create").resource("serviceaccounts").subresource("token")
}

fn writes(server: &Server) -> Vec<LoggedRequest> {
    server.requests().matching(&On::writes().resource("configmaps"))
}

async fn create_account(client: &Client) {
    let (namespace, name) = (Some("kube-system".to_owned()), Some("writer".to_owned()));
    let metadata = ObjectMeta { namespace, name, ..ObjectMeta::default() };
    client.create(&ServiceAccount { metadata, ..ServiceAccount::default() }).await.expect("create");
}

#[tokio::test]
async fn concurrent_requests_share_one_token() {
    let (server, admin) = cluster().await;
    create_account(&admin).await;
    let client = client_of_account(&server, admin, "kube-system");
    let names: Vec<String> = (0..20).map(|number| format!("web-{number}")).collect();
    let created = names.iter().map(|name| async { client.create(&config_map(name)).await });
    assert!(futures::future::join_all(created).await.iter().all(Result::is_ok));

    let writes = writes(&server);
    assert_eq!(writes.len(), names.len());
    assert!(writes.iter().all(|it| it.user == "system:serviceaccount:kube-system:writer"), "{writes:?}");
    assert_eq!(server.requests().count(&token_requests()), 1);
    let account_creates = On::any().verb("create").resource("serviceaccounts").subresource("");
    assert_eq!(server.requests().count(&account_creates), 1, "one create, by the test");
    server.shutdown().await;
}

#[tokio::test]
async fn missing_account_and_namespace_are_created() {
    let (server, admin) = cluster().await;
    let client = client_of_account(&server, admin.clone(), "shop");
    client.create(&config_map("web")).await.expect("create");
    admin.get::<ServiceAccount>("shop", "writer").await.expect("get service account");
    server.shutdown().await;
}

#[tokio::test]
async fn service_account_create_race() {
    let (server, admin) = cluster().await;
    create_account(&admin).await;
    server.faults().inject(Fault::reject(404).on(On::any().verb("get").resource("serviceaccounts")).times(1));
    let client = client_of_account(&server, admin, "kube-system");
    client.create(&config_map("web")).await.expect("create");
    let account_creates = On::any().verb("create").resource("serviceaccounts").subresource("");
    assert_eq!(
        server.requests().count(&account_creates),
        2,
        "one create by the test, and one by the client that gets AlreadyExists"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn namespace_create_forbidden_is_not_fatal() {
    let (server, admin) = cluster().await;
    server.faults().inject(Fault::reject(403).on(On::writes().resource("namespaces")));
    server.faults().inject(Fault::reject(404).on(On::any().verb("get").resource("namespaces")));
    let client = client_of_account(&server, admin, "kube-system");
    client.create(&config_map("web")).await.expect("create");
    assert_eq!(server.requests().count(&On::writes().resource("namespaces")), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn rejected_token_is_replaced() {
    let (server, admin) = cluster().await;
    let client = client_of_account(&server, admin.clone(), "kube-system");
    client.create(&config_map("web")).await.expect("create");
    // The account is recreated with a new UID, which invalidates the old token.
    admin.delete::<ServiceAccount>("kube-system", "writer", None).await.expect("delete");
    let error = client.create(&config_map("db")).await.expect_err("old token was accepted");
    assert_eq!(error.status().map(|status| status.code), Some(401), "{error}");
    client.create(&config_map("db")).await.expect("create with a new token");
    assert_eq!(server.requests().count(&token_requests()), 2);
    server.shutdown().await;
}

/// The server answers all requests but those for tokens.
#[tokio::test(start_paused = true)]
async fn a_token_is_used_while_its_renewal_is_not_answered() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let config = Config::from_service(server.service());
    let client = client_of(&config.as_service_account(client_of(&config), "kube-system", "writer"));
    client.create(&config_map("web")).await.expect("create");
    sleep(Duration::from_secs(50 * 60)).await;
    let hour = Duration::from_secs(60 * 60);
    server.faults().inject(Fault::delay_request(hour, hour).on(token_requests()));
    let renewal = Instant::now();
    for name in ["db", "cache"] {
        client.create(&config_map(name)).await.expect("create with the token of before");
    }
    assert_eq!(renewal.elapsed().as_secs(), 5, "one renewal without an answer");
}

#[tokio::test]
async fn request_without_a_token_fails_with_the_reason() {
    let (server, admin) = cluster().await;
    server.faults().inject(Fault::reject(403).on(token_requests()));
    let client = client_of_account(&server, admin, "kube-system");
    // The first attempt is rejected by the server, the second fails during the back-off.
    for attempt in 0..2 {
        let error = client.create(&config_map("web")).await.expect_err("request was sent").to_string_full();
        assert!(
            error.contains("no token for service account kube-system/writer: create serviceaccounts/token"),
            "{attempt}: {error}"
        );
    }
    assert_eq!(writes(&server), []);
    server.shutdown().await;
}

#[tokio::test]
async fn service_account_replaces_identity() {
    let (server, admin) = cluster().await;
    let folder = tempfile::tempdir().expect("tempdir");
    let path = folder.path().join("kubeconfig");
    let owner = kube_dev_apiserver::User::new("alice").group("system:masters");
    std::fs::write(&path, server.kubeconfig_for(owner)).expect("write kubeconfig");
    let config = Config::from_kubeconfig(&path).await.expect("load kubeconfig");
    let account = config.as_service_account(admin, "kube-system", "writer");
    let client = client_of(&account);
    client.raw(Method::GET, "/api/v1/namespaces/default/configmaps", None, vec![]).await.expect("request");
    let _ = client.get::<ConfigMap>("default", "web").await;
    let users: Vec<String> =
        server.requests().matching(&On::any().resource("configmaps")).into_iter().map(|it| it.user).collect();
    assert_eq!(users, ["system:serviceaccount:kube-system:writer"; 2]);
    server.shutdown().await;
}
