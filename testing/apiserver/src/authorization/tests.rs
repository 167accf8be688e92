//! Decisions of the RBAC authorizer.

use rstest::rstest;
use serde_json::{Value, from_value, json};

use super::*;
use crate::attributes::Attributes;
use crate::identity::User;

fn policy(cluster_roles: Value, roles: Value, cluster_bindings: Value, bindings: Value) -> Policy {
    Policy::new(
        from_value(cluster_roles).unwrap(),
        from_value(roles).unwrap(),
        from_value(cluster_bindings).unwrap(),
        from_value(bindings).unwrap(),
    )
}

/// Parses `VERB RESOURCE[/SUBRESOURCE][.GROUP] [NAMESPACE/][NAME]` or `VERB /PATH`.
fn request(text: &str) -> Attributes {
    let mut words = text.split(' ');
    let verb = words.next().unwrap().to_owned();
    let what = words.next().unwrap();
    if what.starts_with('/') {
        return Attributes { verb, path: what.to_owned(), ..Attributes::default() };
    }
    let (namespace, name) = words.next().unwrap_or("/").split_once('/').unwrap();
    let (what, group) = what.split_once('.').unwrap_or((what, ""));
    let (resource, subresource) = what.split_once('/').unwrap_or((what, ""));
    Attributes {
        verb,
        group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..Attributes::default()
    }
}

/// Requests allowed by one rule that a `ClusterRoleBinding` grants to `alice`.
#[rstest]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}), "get pods a/p", true)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}), "get pods /", true)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}), "list pods a/", false)]
#[case(json!({"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]}), "list pods a/", true)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}), "get pods.x a/p", false)]
#[case(json!({"verbs": ["get"], "apiGroups": ["*"], "resources": ["pods"]}), "get pods.x a/p", true)]
#[case(json!({"verbs": ["get"], "apiGroups": ["discovery.k8s.io"], "resources": ["*"]}), "get endpointslices.discovery.k8s.io a/p", true)]
#[case(json!({"verbs": ["get"], "resources": ["pods"]}), "get pods a/p", false)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}), "get pods/status a/p", false)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/status"]}), "get pods/status a/p", true)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/status"]}), "get pods a/p", false)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["*/status"]}), "get pods/status a/p", true)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["*/status"]}), "get pods a/p", false)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["*"]}), "get pods/status a/p", true)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}), "get pods a/p", true)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}), "get pods a/q", false)]
#[case(json!({"verbs": ["create"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}), "create pods a/", false)]
#[case(json!({"verbs": ["get"], "nonResourceURLs": ["/metrics"]}), "get /metrics", true)]
#[case(json!({"verbs": ["get"], "nonResourceURLs": ["/metrics"]}), "get /metrics/x", false)]
#[case(json!({"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]}), "get /healthz/x", true)]
#[case(json!({"verbs": ["get"], "nonResourceURLs": ["*"]}), "get /anything", true)]
#[case(json!({"verbs": ["get"], "nonResourceURLs": ["*"]}), "post /anything", false)]
#[case(json!({"verbs": ["get"], "nonResourceURLs": ["*"]}), "get pods a/p", false)]
#[case(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["*"]}), "get /metrics", false)]
fn rules_allow_requests(#[case] rule: Value, #[case] text: &str, #[case] expect: bool) {
    let policy = policy(
        json!([{"metadata": {"name": "r"}, "rules": [rule]}]),
        json!([]),
        json!([{"metadata": {"name": "b"}, "roleRef": {"apiGroup": "", "kind": "ClusterRole", "name": "r"},
                "subjects": [{"kind": "User", "name": "alice"}]}]),
        json!([]),
    );
    assert_eq!(policy.decide(&User::new("alice"), &request(text)).allowed, expect);
    assert!(!policy.decide(&User::new("bob"), &request(text)).allowed);
    assert!(policy.decide(&User::new("bob").group("system:masters"), &request(text)).allowed);
}

fn bound(subject: &Value, role: &Value) -> Policy {
    let rules = json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]);
    policy(
        json!([
            {"metadata": {"name": "reader", "labels": {"part": "yes"}}, "rules": rules},
            {"metadata": {"name": "sum"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]}},
        ]),
        json!([{"metadata": {"name": "reader", "namespace": "a"}, "rules": rules}]),
        json!([]),
        json!([{"metadata": {"name": "b", "namespace": "a"}, "roleRef": role, "subjects": [subject]}]),
    )
}

/// Whether a user matches the subject of a `RoleBinding` in namespace `a`.
#[rstest]
#[case(json!({"kind": "User", "name": "u"}), User::new("u"), true)]
#[case(json!({"kind": "User", "name": "u"}), User::new("v"), false)]
#[case(json!({"kind": "Group", "name": "g"}), User::new("u").group("g"), true)]
#[case(json!({"kind": "Group", "name": "g"}), User::new("g"), false)]
#[case(json!({"kind": "Group", "name": "system:authenticated"}), User::new("u").authenticated(), true)]
#[case(json!({"kind": "Group", "name": "system:authenticated"}), User::anonymous().authenticated(), false)]
#[case(json!({"kind": "ServiceAccount", "name": "s", "namespace": "x"}), User::service_account("x", "s"), true)]
#[case(json!({"kind": "ServiceAccount", "name": "s", "namespace": "x"}), User::service_account("a", "s"), false)]
#[case(json!({"kind": "ServiceAccount", "name": "s"}), User::service_account("a", "s"), true)]
#[case(json!({"kind": "Group", "name": "system:serviceaccounts:x"}), User::service_account("x", "s"), true)]
fn subjects_match_users(#[case] subject: Value, #[case] user: User, #[case] expect: bool) {
    for kind in ["Role", "ClusterRole"] {
        let policy = bound(&subject, &json!({"apiGroup": "", "kind": kind, "name": "reader"}));
        assert_eq!(policy.decide(&user, &request("get pods a/p")).allowed, expect);
        // A `RoleBinding` grants nothing in other namespaces and nothing cluster-wide.
        assert!(!policy.decide(&user, &request("get pods b/p")).allowed);
        assert!(!policy.decide(&user, &request("get pods /p")).allowed);
    }
}

#[rstest]
#[case("Role", "reader", true, r#"RBAC: allowed by RoleBinding "b/a" of Role "reader" to User "u""#)]
#[case("Role", "gone", false, r#"RBAC: role.rbac.authorization.k8s.io "gone" not found"#)]
#[case("ClusterRole", "gone", false, r#"RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found"#)]
fn decisions_have_upstreams_reasons(
    #[case] kind: &str,
    #[case] name: &str,
    #[case] allowed: bool,
    #[case] reason: &str,
) {
    let policy = bound(&json!({"kind": "User", "name": "u"}), &json!({"apiGroup": "", "kind": kind, "name": name}));
    let expect = Decision { allowed, reason: reason.to_owned() };
    assert_eq!(policy.decide(&User::new("u"), &request("get pods a/p")), expect);
}
