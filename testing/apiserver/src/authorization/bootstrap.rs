//! Default RBAC roles and bindings: full access for administrators, discovery and self-reviews for all users, and the
//! roles `view`, `edit` and `admin` for namespaces.
//!
//! A real server creates about 80. Roles of controllers belong to the manifests of the controllers. Rules of `view`, `edit`
//! and `admin` are upstream's for the groups that this server has, and like upstream's they include the rules of each
//! `ClusterRole` with a label `rbac.authorization.k8s.io/aggregate-to-…`.

/// Plural resource name and JSON of each default role and binding; a binding comes after its role.
pub(crate) const DEFAULT_ROLES: [(&str, &str); 14] = [
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
        "clusterroles",
        r#"{"metadata": {"name": "view", "labels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}},
            "aggregationRule": {"clusterRoleSelectors": [
                {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}]}}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "edit", "labels": {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}},
            "aggregationRule": {"clusterRoleSelectors": [
                {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}}]}}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "admin"}, "aggregationRule": {"clusterRoleSelectors": [
                {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}}]}}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "system:aggregate-to-view",
                "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}, "rules": [
            {"apiGroups": [""], "verbs": ["get", "list", "watch"], "resources": ["configmaps", "endpoints", "events",
                "namespaces", "namespaces/status", "pods", "pods/log", "pods/status", "serviceaccounts", "services",
                "services/status"]},
            {"apiGroups": ["apps"], "verbs": ["get", "list", "watch"], "resources": ["deployments", "deployments/scale",
                "deployments/status", "replicasets", "replicasets/scale", "replicasets/status"]},
            {"apiGroups": ["batch"], "verbs": ["get", "list", "watch"], "resources": ["jobs", "jobs/status"]},
            {"apiGroups": ["discovery.k8s.io"], "verbs": ["get", "list", "watch"], "resources": ["endpointslices"]}]}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "system:aggregate-to-edit",
                "labels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}}, "rules": [
            {"apiGroups": [""], "verbs": ["get", "list", "watch"],
             "resources": ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"]},
            {"apiGroups": [""], "verbs": ["impersonate"], "resources": ["serviceaccounts"]},
            {"apiGroups": [""], "verbs": ["create", "delete", "deletecollection", "patch", "update"], "resources": [
                "configmaps", "events", "pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets",
                "serviceaccounts", "services", "services/proxy"]},
            {"apiGroups": [""], "verbs": ["create"], "resources": ["pods/eviction", "serviceaccounts/token"]},
            {"apiGroups": ["apps"], "verbs": ["create", "delete", "deletecollection", "patch", "update"], "resources": [
                "deployments", "deployments/rollback", "deployments/scale", "replicasets", "replicasets/scale"]},
            {"apiGroups": ["batch"], "verbs": ["create", "delete", "deletecollection", "patch", "update"],
             "resources": ["jobs"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": [
                "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]}]}"#,
    ),
    (
        "clusterroles",
        r#"{"metadata": {"name": "system:aggregate-to-admin",
                "labels": {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}}, "rules": [
            {"apiGroups": ["authorization.k8s.io"], "verbs": ["create"], "resources": ["localsubjectaccessreviews"]},
            {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings", "roles"], "verbs": [
                "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]}]}"#,
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
