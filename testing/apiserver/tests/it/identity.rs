//! Authentication and authorization.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::Method;
use jiff::Timestamp;
use kube_dev_apiserver::{Anonymous, Authorization, Clock, Config, Denial, Fault, On, User};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::TestApi;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

/// Starts a server with RBAC and a client with all rights. User alice may read pods in namespace `default`.
async fn rbac_api() -> TestApi {
    let mut api = TestApi::start(Config { authorization: Authorization::Rbac, ..Config::default() }).await;
    api.token = Some(api.server.token_for(User::new("root").group("system:masters")));
    let namespaced = format!("{RBAC}/namespaces/default");
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]);
    api.create(&format!("{namespaced}/roles"), json!({"metadata": {"name": "reader"}, "rules": rules})).await;
    let binding = json!({
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "name": "alice"}, {"kind": "ServiceAccount", "name": "robot"}]
    });
    api.create(&format!("{namespaced}/rolebindings"), binding).await;
    api
}

fn alice(api: &TestApi) -> String {
    api.server.token_for(User::new("alice").group("dev"))
}

fn as_alice(mut api: TestApi) -> TestApi {
    api.token = Some(alice(&api));
    api
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
async fn rbac_decides_requests_of_a_user(#[case] path: &str, #[case] refusal: &str) {
    let api = as_alice(rbac_api().await);
    let (code, status) = api.get(path).await;
    if refusal.is_empty() {
        assert_eq!(code, 200);
        return;
    }
    assert_eq!(format!("{} {}", status["reason"].as_str().unwrap(), status["message"].as_str().unwrap()), refusal);
    assert_eq!(status["code"], code);
}

// As upstream's `withAuthorization`: an update or an apply that creates needs the verb `create`, too.
#[rstest]
#[case::update(Method::PUT, "application/json", 422)] // Without the resource version of the existing object.
#[case::apply(Method::PATCH, "application/apply-patch+yaml", 200)]
#[tokio::test]
async fn write_that_creates_needs_the_right_to_create(
    #[case] method: Method,
    #[case] content_type: &str,
    #[case] existing: u16,
) {
    let mut api = rbac_api().await;
    let role = format!("{RBAC}/namespaces/default/roles/reader");
    let rule = |verbs: &[&str]| {
        let rule = json!({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": verbs});
        json!({"rules": [rule]}).to_string()
    };
    let may = async |api: &mut TestApi, verbs: &[&str]| {
        api.token = Some(api.server.token_for(User::new("root").group("system:masters")));
        assert!(
            api.send(Method::PATCH, &role, "application/merge-patch+json", rule(verbs)).await.status().is_success()
        );
        api.token = Some(alice(api));
    };
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l?fieldManager=me";
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}}).to_string();
    let write =
        async |api: &TestApi| api.send(method.clone(), path, content_type, lease.clone()).await.status().as_u16();

    may(&mut api, &["update", "patch"]).await;
    assert_eq!(write(&api).await, 403);
    may(&mut api, &["update", "patch", "create"]).await;
    assert_eq!(write(&api).await, 201);
    may(&mut api, &["update", "patch"]).await;
    assert_eq!(write(&api).await, existing);
}

#[tokio::test]
async fn role_changes_take_effect_at_once() {
    let mut api = rbac_api().await;
    let owner = api.token.clone();
    api.token = Some(alice(&api));
    let nodes = "/api/v1/nodes";
    assert_eq!(api.get(nodes).await.0, 403);
    api.token.clone_from(&owner);
    let subjects = json!([{"kind": "Group", "name": "dev"}]);
    let binding =
        json!({"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": subjects});
    api.create(&format!("{RBAC}/clusterrolebindings"), binding.clone()).await;

    api.token = Some(alice(&api));
    let message = api.get(nodes).await.1["message"].to_string();
    assert!(message.ends_with(r#": RBAC: clusterrole.rbac.authorization.k8s.io \"r\" not found""#), "{message}");
    api.token.clone_from(&owner);
    let rules = json!([{"apiGroups": ["*"], "resources": ["nodes"], "verbs": ["*"]}]);
    api.create(&format!("{RBAC}/clusterroles"), json!({"metadata": {"name": "r"}, "rules": rules})).await;
    api.token = Some(alice(&api));
    assert_eq!(api.get(nodes).await.0, 200);

    api.token.clone_from(&owner);
    let path = format!("{RBAC}/clusterrolebindings/b");
    let mut other = binding;
    other["roleRef"]["name"] = json!("cluster-admin");
    assert_eq!(api.json(Method::PUT, &path, &other).await.0, 422, "roleRef is immutable");
    assert_eq!(api.json(Method::DELETE, &path, &Value::Null).await.0, 200);
    api.token = Some(alice(&api));
    assert_eq!(api.get(nodes).await.0, 403);
}

/// Other refusals with the same status are not denials.
#[rstest]
#[case::no_right("alice's", Method::POST, ACCOUNTS, 403, true)]
#[case::no_right_to_create_by_an_update(
    "alice's",
    Method::PUT,
    "/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
    403,
    true
)]
#[case::unknown_token("made up", Method::GET, ACCOUNTS, 401, true)]
#[case::by_admission("root's", Method::POST, "/api/v1/namespaces/default/configmaps", 403, false)]
#[case::namespace_in_deletion("root's", Method::POST, "/api/v1/namespaces/shop/configmaps", 403, false)]
#[case::by_a_fault("root's", Method::GET, "/api/v1/nodes", 403, false)]
#[tokio::test]
async fn the_log_tells_denied_requests_from_other_refused_ones(
    #[case] token: &str,
    #[case] method: Method,
    #[case] path: &str,
    #[case] status: u16,
    #[case] denied: bool,
) {
    let mut api = rbac_api().await;
    let rules = json!([{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["update"]}]);
    let namespaced = format!("{RBAC}/namespaces/default");
    api.create(&format!("{namespaced}/roles"), json!({"metadata": {"name": "updater"}, "rules": rules})).await;
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "updater"});
    let subjects = json!([{"kind": "User", "name": "alice"}]);
    let binding = json!({"metadata": {"name": "updaters"}, "roleRef": role, "subjects": subjects});
    api.create(&format!("{namespaced}/rolebindings"), binding).await;
    api.create("/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
    let kept = json!({"metadata": {"name": "kept", "finalizers": ["example.com/kept"]}});
    api.create("/api/v1/namespaces/shop/configmaps", kept).await;
    api.json(Method::DELETE, "/api/v1/namespaces/shop", &Value::Null).await;
    api.server.admission().validate(|request, _| match request.name {
        "refused" => Err(Denial::forbidden("no")),
        _ => Ok(()),
    });
    api.server.faults().inject(Fault::reject(403).on(On::any().resource("nodes")));
    api.server.requests().clear();

    match token {
        "root's" => {}
        "alice's" => api = as_alice(api),
        unknown => api.token = Some(unknown.to_owned()),
    }
    let name = if path.contains("/configmaps") { "refused" } else { "l" };
    let (code, answer) = api.json(method, path, &json!({"metadata": {"name": name}})).await;
    assert_eq!(code, status, "{answer}");
    let logged = api.server.requests().all();
    assert_eq!(logged.iter().map(|it| it.denied).collect::<Vec<_>>(), [denied], "{logged:?}");
}

#[tokio::test]
async fn missing_credentials_are_anonymous_and_invalid_ones_rejected() {
    let mut api = rbac_api().await;
    api.token = None;
    assert_eq!(api.get("/version").await.0, 200);
    let (code, status) = api.get("/api/v1/nodes").await;
    assert_eq!((code, status["message"].as_str().unwrap().contains(r#"User "system:anonymous""#)), (403, true));
    api.token = Some("made up".to_owned());
    let (code, status) = api.get("/version").await;
    let expect = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
    assert_eq!((code, status), (401, expect));

    let closed = TestApi::start(Config { anonymous: Anonymous::Rejected, ..Config::default() }).await;
    assert_eq!(closed.get("/version").await.0, 401);
    assert!(closed.server.kubeconfig().contains("token: "));
    let open = TestApi::start(Config::default()).await;
    assert!(open.server.kubeconfig().contains("user: {}"));
}

#[tokio::test]
async fn service_account_token_authenticates() {
    let mut api = rbac_api().await;
    let account = api.create(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    let path = format!("{ACCOUNTS}/robot/token");
    let (code, request) = api.json(Method::POST, &path, &json!({"spec": {"expirationSeconds": 3600}})).await;
    assert_eq!((code, &request["kind"], &request["metadata"]["name"]), (201, &json!("TokenRequest"), &json!("robot")));
    assert!(request["status"]["expirationTimestamp"].as_str().unwrap().ends_with('Z'));
    let token = request["status"]["token"].as_str().unwrap().to_owned();

    let review = json!({"spec": {"token": token}});
    let (_, answer) = api.json(Method::POST, "/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
    assert_eq!(answer["status"]["authenticated"], true);
    let groups = ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"];
    let user =
        json!({"username": "system:serviceaccount:default:robot", "uid": account["metadata"]["uid"], "groups": groups});
    assert_eq!(answer["status"]["user"], user);
    let review = json!({"spec": {"token": token, "audiences": ["elsewhere"]}});
    let (_, answer) = api.json(Method::POST, "/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
    assert_eq!(answer["status"].get("authenticated"), None);

    let other_audience = json!({"spec": {"audiences": ["elsewhere"]}});
    let other_audience_token = api.json(Method::POST, &path, &other_audience).await.1["status"]["token"].clone();
    assert_eq!(api.json(Method::POST, &format!("{ACCOUNTS}/gone/token"), &json!({})).await.0, 404);

    let owner = api.token.replace(token);
    assert_eq!(api.get("/api/v1/namespaces/default/pods").await.0, 200);
    assert_eq!(api.get("/api/v1/namespaces/default/services").await.0, 403);
    let user = "system:serviceaccount:default:robot";
    assert_eq!(api.server.requests().count(&On::any().user(user)), 2);
    let token = api.token.replace(other_audience_token.as_str().unwrap().to_owned());
    assert_eq!(api.get("/version").await.0, 401, "token for another audience");

    // The token is invalid once its account is deleted, even if one with the same name is created.
    api.token = owner;
    assert_eq!(api.json(Method::DELETE, &format!("{ACCOUNTS}/robot"), &Value::Null).await.0, 200);
    api.create(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    api.token = token;
    assert_eq!(api.get("/version").await.0, 401);
}

#[tokio::test]
async fn service_account_token_expires() {
    let now = Arc::new(AtomicI64::new(1_800_000_000));
    let seconds = Arc::clone(&now);
    let clock = Clock::new(move || Timestamp::new(seconds.load(Ordering::Relaxed), 0).unwrap());
    let mut api = TestApi::start(Config { clock, ..Config::default() }).await;
    api.create(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    let path = format!("{ACCOUNTS}/robot/token");
    let token = api.json(Method::POST, &path, &json!({"spec": {"expirationSeconds": 3600}})).await.1;
    api.token = Some(token["status"]["token"].as_str().unwrap().to_owned());
    now.fetch_add(3_599, Ordering::Relaxed);
    assert_eq!(api.get("/version").await.0, 200);
    now.fetch_add(1, Ordering::Relaxed);
    assert_eq!(api.get("/version").await.0, 401);
    let user = api.server.token_for(User::new("alice"));
    api.server.expire_tokens();
    api.token = Some(user);
    assert_eq!(api.get("/version").await.0, 200, "tokens of users do not expire");
}

#[rstest]
#[case("subjectaccessreviews", json!({"user": "alice", "resourceAttributes": {"namespace": "default", "verb": "list", "resource": "pods"}}), Some(true))]
#[case("subjectaccessreviews", json!({"user": "alice", "resourceAttributes": {"verb": "list", "resource": "pods"}}), Some(false))]
#[case("subjectaccessreviews", json!({"user": "bob", "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}), Some(false))]
#[case("subjectaccessreviews", json!({"user": "bob", "groups": ["system:authenticated"], "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}), Some(true))]
#[case("subjectaccessreviews", json!({"user": "bob"}), None)]
#[case("selfsubjectaccessreviews", json!({"resourceAttributes": {"verb": "delete", "resource": "nodes"}}), Some(true))]
#[tokio::test]
async fn access_reviews(#[case] review: &str, #[case] spec: Value, #[case] expect: Option<bool>) {
    let api = rbac_api().await;
    let (code, answer) = api.json(Method::POST, &format!("{REVIEWS}/{review}"), &json!({"spec": spec})).await;
    assert_eq!(code, if expect.is_some() { 201 } else { 400 }, "{answer}");
    assert_eq!(answer["status"]["allowed"].as_bool(), expect);
}

#[tokio::test]
async fn self_reviews_need_no_role() {
    let api = as_alice(rbac_api().await);
    let (code, answer) = api.json(Method::POST, "/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({})).await;
    let info = json!({"username": "alice", "groups": ["dev", "system:authenticated"]});
    assert_eq!((code, &answer["status"]["userInfo"]), (201, &info));
    let spec = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}});
    let (_, answer) = api.json(Method::POST, &format!("{REVIEWS}/selfsubjectaccessreviews"), &spec).await;
    let reason = r#"RBAC: allowed by RoleBinding "readers/default" of Role "reader" to User "alice""#;
    assert_eq!(answer["status"], json!({"allowed": true, "reason": reason}));
    let about_others = api.json(Method::POST, &format!("{REVIEWS}/subjectaccessreviews"), &spec).await;
    assert_eq!(about_others.0, 403);
    let path = format!("{REVIEWS}/selfsubjectaccessreviews");
    let protobuf = api.send(Method::POST, &path, "application/vnd.kubernetes.protobuf", "k8s".to_owned()).await;
    assert_eq!(protobuf.status(), 400);
    assert_eq!(api.get(&path).await.0, 403);
}
