//! Authentication and authorization.

use http::Method;
use kube_dev_apiserver::{Anonymous, Authorization, Config, On, Token, User};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::World;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

/// Starts a server with RBAC and a client with all rights. User alice may read pods in namespace `default`.
async fn guarded() -> World {
    let alice = Token { token: "alice's".to_owned(), user: User::new("alice").group("dev") };
    let config = Config { authorization: Authorization::Rbac, tokens: vec![alice], ..Config::default() };
    let mut world = World::start(config).await;
    world.token = Some(world.server.token_for(User::new("root").group("system:masters")));
    let namespaced = format!("{RBAC}/namespaces/default");
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]);
    world.create(&format!("{namespaced}/roles"), json!({"metadata": {"name": "reader"}, "rules": rules})).await;
    let binding = json!({
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "name": "alice"}, {"kind": "ServiceAccount", "name": "robot"}]
    });
    world.create(&format!("{namespaced}/rolebindings"), binding).await;
    world
}

fn as_alice(mut world: World) -> World {
    world.token = Some("alice's".to_owned());
    world
}

#[rstest]
#[case("/api/v1/namespaces/default/pods", "")]
#[case("/api/v1/namespaces/default/pods/x", "NotFound pods \"x\" not found")]
#[case("/apis", "")]
#[case("/healthz", "")]
#[case(
    "/api/v1/pods",
    r#"Forbidden pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope"#
)]
#[case(
    "/api/v1/namespaces/y/pods?watch=true",
    r#"Forbidden pods is forbidden: User "alice" cannot watch resource "pods" in API group "" in the namespace "y""#
)]
#[case(
    "/apis/discovery.k8s.io/v1/namespaces/y/endpointslices/e",
    r#"Forbidden endpointslices.discovery.k8s.io "e" is forbidden: User "alice" cannot get resource "endpointslices" in API group "discovery.k8s.io" in the namespace "y""#
)]
#[case(
    "/api/v1/namespaces/default/pods/x/status",
    r#"Forbidden pods "x" is forbidden: User "alice" cannot get resource "pods/status" in API group "" in the namespace "default""#
)]
#[case("/metrics", r#"Forbidden forbidden: User "alice" cannot get path "/metrics""#)]
#[tokio::test]
async fn alice_asks(#[case] path: &str, #[case] refusal: &str) {
    let world = as_alice(guarded().await);
    let response = world.send(Method::GET, path, "", String::new()).await;
    let code = response.status().as_u16();
    if refusal.is_empty() {
        assert_eq!(code, 200);
        return;
    }
    let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    let status: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(format!("{} {}", status["reason"].as_str().unwrap(), status["message"].as_str().unwrap()), refusal);
    assert_eq!(status["code"], code);
}

#[tokio::test]
async fn rights_change_as_roles_do() {
    let mut world = guarded().await;
    let owner = world.token.clone();
    world.token = Some("alice's".to_owned());
    let nodes = "/api/v1/nodes";
    assert_eq!(world.get(nodes).await.0, 403);
    world.token.clone_from(&owner);
    let subjects = json!([{"kind": "Group", "name": "dev"}]);
    let binding =
        json!({"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": subjects});
    world.create(&format!("{RBAC}/clusterrolebindings"), binding.clone()).await;

    world.token = Some("alice's".to_owned());
    let message = world.get(nodes).await.1["message"].to_string();
    assert!(message.ends_with(r#": RBAC: clusterrole.rbac.authorization.k8s.io \"r\" not found""#), "{message}");
    world.token.clone_from(&owner);
    let rules = json!([{"apiGroups": ["*"], "resources": ["nodes"], "verbs": ["*"]}]);
    world.create(&format!("{RBAC}/clusterroles"), json!({"metadata": {"name": "r"}, "rules": rules})).await;
    world.token = Some("alice's".to_owned());
    assert_eq!(world.get(nodes).await.0, 200);

    world.token.clone_from(&owner);
    let path = format!("{RBAC}/clusterrolebindings/b");
    let mut other = binding;
    other["roleRef"]["name"] = json!("cluster-admin");
    assert_eq!(world.json(Method::PUT, &path, &other).await.0, 422, "roleRef is immutable");
    assert_eq!(world.json(Method::DELETE, &path, &Value::Null).await.0, 200);
    world.token = Some("alice's".to_owned());
    assert_eq!(world.get(nodes).await.0, 403);
}

#[tokio::test]
async fn no_credentials_and_wrong_ones() {
    let mut world = guarded().await;
    world.token = None;
    assert_eq!(world.get("/version").await.0, 200);
    let (code, status) = world.get("/api/v1/nodes").await;
    assert_eq!((code, status["message"].as_str().unwrap().contains(r#"User "system:anonymous""#)), (403, true));
    world.token = Some("made up".to_owned());
    let (code, status) = world.get("/version").await;
    let expect = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
    assert_eq!((code, status), (401, expect));

    let closed = World::start(Config { anonymous: Anonymous::Refused, ..Config::default() }).await;
    assert_eq!(closed.get("/version").await.0, 401);
    assert!(closed.server.kubeconfig().contains("token: "));
    let open = World::start(Config::default()).await;
    assert!(open.server.kubeconfig().contains("user: {}"));
}

#[tokio::test]
async fn a_service_account_gets_a_token_and_uses_it() {
    let mut world = guarded().await;
    world.create(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    let path = format!("{ACCOUNTS}/robot/token");
    let (code, request) = world.json(Method::POST, &path, &json!({"spec": {"expirationSeconds": 3600}})).await;
    assert_eq!((code, &request["kind"], &request["metadata"]["name"]), (201, &json!("TokenRequest"), &json!("robot")));
    assert!(request["status"]["expirationTimestamp"].as_str().unwrap().ends_with('Z'));
    let token = request["status"]["token"].as_str().unwrap().to_owned();

    let review = json!({"spec": {"token": token}});
    let (_, answer) = world.json(Method::POST, "/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
    assert_eq!(answer["status"]["authenticated"], true);
    assert_eq!(answer["status"]["user"]["username"], "system:serviceaccount:default:robot");
    let review = json!({"spec": {"token": token, "audiences": ["elsewhere"]}});
    let (_, answer) = world.json(Method::POST, "/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
    assert_eq!(answer["status"].get("authenticated"), None);

    let for_elsewhere = json!({"spec": {"audiences": ["elsewhere"]}});
    let elsewhere = world.json(Method::POST, &path, &for_elsewhere).await.1["status"]["token"].clone();
    for (body, code) in [(json!({"spec": {"expirationSeconds": 10}}), 422), (json!({"spec": 7}), 400)] {
        assert_eq!(world.json(Method::POST, &path, &body).await.0, code, "{body}");
    }
    assert_eq!(world.json(Method::POST, &format!("{ACCOUNTS}/gone/token"), &json!({})).await.0, 404);

    let owner = world.token.replace(token);
    assert_eq!(world.get("/api/v1/namespaces/default/pods").await.0, 200);
    assert_eq!(world.get("/api/v1/namespaces/default/services").await.0, 403);
    let user = "system:serviceaccount:default:robot";
    assert_eq!(world.server.requests().count(&On::any().user(user)), 2);
    let token = world.token.replace(elsewhere.as_str().unwrap().to_owned());
    assert_eq!(world.get("/version").await.0, 401, "token for another audience");

    // The token is invalid once its account is deleted, even if one with the same name is created.
    world.token = owner;
    assert_eq!(world.json(Method::DELETE, &format!("{ACCOUNTS}/robot"), &Value::Null).await.0, 200);
    world.create(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    world.token = token;
    assert_eq!(world.get("/version").await.0, 401);
}

#[rstest]
#[case("subjectaccessreviews", json!({"user": "alice", "resourceAttributes": {"namespace": "default", "verb": "list", "resource": "pods"}}), Some(true))]
#[case("subjectaccessreviews", json!({"user": "alice", "resourceAttributes": {"verb": "list", "resource": "pods"}}), Some(false))]
#[case("subjectaccessreviews", json!({"user": "bob", "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}), Some(false))]
#[case("subjectaccessreviews", json!({"user": "bob", "groups": ["system:authenticated"], "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}), Some(true))]
#[case("subjectaccessreviews", json!({"user": "bob"}), None)]
#[case("subjectaccessreviews", json!({"resourceAttributes": {"verb": "list", "resource": "pods"}}), None)]
#[case("selfsubjectaccessreviews", json!({"resourceAttributes": {"verb": "delete", "resource": "nodes"}}), Some(true))]
#[case("namespaces/default/localsubjectaccessreviews", json!({"user": "alice", "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}), Some(true))]
#[case("namespaces/default/localsubjectaccessreviews", json!({"user": "alice", "resourceAttributes": {"namespace": "other", "verb": "get", "resource": "pods"}}), None)]
#[tokio::test]
async fn access_reviews(#[case] review: &str, #[case] spec: Value, #[case] expect: Option<bool>) {
    let world = guarded().await;
    let (code, answer) = world.json(Method::POST, &format!("{REVIEWS}/{review}"), &json!({"spec": spec})).await;
    assert_eq!(code, if expect.is_some() { 201 } else { 422 }, "{answer}");
    assert_eq!(answer["status"]["allowed"].as_bool(), expect);
}

#[tokio::test]
async fn everybody_may_ask_about_themselves() {
    let world = as_alice(guarded().await);
    let (code, answer) =
        world.json(Method::POST, "/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({})).await;
    let info = json!({"username": "alice", "groups": ["dev", "system:authenticated"]});
    assert_eq!((code, &answer["status"]["userInfo"]), (201, &info));
    let spec = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}});
    let (_, answer) = world.json(Method::POST, &format!("{REVIEWS}/selfsubjectaccessreviews"), &spec).await;
    let reason = r#"RBAC: allowed by RoleBinding "readers/default" of Role "reader" to User "alice""#;
    assert_eq!(answer["status"], json!({"allowed": true, "reason": reason}));
    let about_others = world.json(Method::POST, &format!("{REVIEWS}/subjectaccessreviews"), &spec).await;
    assert_eq!(about_others.0, 403);
    let path = format!("{REVIEWS}/selfsubjectaccessreviews");
    let protobuf = world.send(Method::POST, &path, "application/vnd.kubernetes.protobuf", "k8s".to_owned()).await;
    assert_eq!(protobuf.status(), 400);
    assert_eq!(world.get(&path).await.0, 403);
}
