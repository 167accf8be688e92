//! Default RBAC roles and bindings: full access for administrators, and discovery and self-reviews for all users.
//!
//! A real server creates about 80. Roles of controllers belong to the manifests of the controllers.

/// Plural resource name and JSON of each default role and binding; a binding comes after its role.
pub(crate) const DEFAULT_ROLES: [(&str, &str); 8] = [
    (
        "clusterroles",
        r#"{"metadata": {"name": "cluster-admin"}, "rules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
            {"nonResourceURLs": ["*"], "verbs": ["*"]}]}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "system:discovery"}, "rules": [{"verbs": ["get"], "nonResourceURLs": [
            "/.well-known", "/.well-known/*", "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
            "/openapi/*", "/readyz", "/version", "/version/"]}]}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "system:public-info-viewer"}, "rules": [{"verbs": ["get"], "nonResourceURLs": [
            "/healthz", "/livez", "/readyz", "/version", "/version/"]}]}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "system:basic-user"}, "rules": [
            {"apiGroups": ["authorization.k8s.io"], "verbs": ["create"],
             "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
            {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]}]}"#,
    ),
    (
        "clusterrolebindings",
        r#"{"metadata": {"name": "cluster-admin"}, "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "Group", "name": "system:masters"}]}"#,
    ),
    (
        "clusterrolebindings",
        r#"{"metadata": {"name": "system:discovery"}, "roleRef": {"kind": "ClusterRole", "name": "system:discovery"},
            "subjects": [{"kind": "Group", "name": "system:authenticated"}]}"#,
    ),
    (
        "clusterrolebindings",
        r#"{"metadata": {"name": "system:public-info-viewer"},
            "roleRef": {"kind": "ClusterRole", "name": "system:public-info-viewer"}, "subjects": [
            {"kind": "Group", "name": "system:authenticated"}, {"kind": "Group", "name": "system:unauthenticated"}]}"#,
    ),
    (
        "clusterrolebindings",
        r#"{"metadata": {"name": "system:basic-user"}, "roleRef": {"kind": "ClusterRole", "name": "system:basic-user"},
            "subjects": [{"kind": "Group", "name": "system:authenticated"}]}"#,
    ),
];
