//! The table of served kinds.

use std::sync::{Arc, LazyLock};

use serde_json::json;

use super::Kind;

const ENDPOINTS_WARNING: &str = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

/// All served kinds, in the order of discovery.
#[derive(Debug, Clone)]
pub(crate) struct KindTable {
    kinds: Vec<Arc<Kind>>,
}

impl KindTable {
    /// Returns the built-in kinds. They are constructed once per process.
    pub(crate) fn builtin() -> Self {
        static BUILTIN: LazyLock<KindTable> = LazyLock::new(KindTable::make);
        BUILTIN.clone()
    }

    fn make() -> Self {
        let mut kinds: Vec<Kind> = core().into_iter().chain(workloads()).chain(others()).collect();
        for (index, kind) in kinds.iter_mut().enumerate() {
            kind.index = index;
        }
        Self { kinds: kinds.into_iter().map(Arc::new).collect() }
    }

    pub(crate) fn all(&self) -> &[Arc<Kind>] {
        &self.kinds
    }

    /// Adds a kind, or replaces the custom kind with the same index.
    pub(crate) fn put(&mut self, kind: Kind) {
        let kind = Arc::new(kind);
        match self.kinds.iter_mut().find(|found| found.index == kind.index && found.is_custom()) {
            Some(found) => *found = kind,
            None => self.kinds.push(kind),
        }
    }

    /// Removes a kind. Its index is not used again.
    pub(crate) fn remove(&mut self, index: usize) {
        self.kinds.retain(|kind| kind.index != index);
    }

    /// Returns the kind with the given path segments.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.kinds.iter().find(|kind| kind.plural == plural && kind.group == group && kind.version == version)
    }
}

fn core() -> Vec<Kind> {
    use k8s_openapi::api::core::v1::{
        ConfigMap, Endpoints, Event, Namespace, Node, Pod, Secret, Service, ServiceAccount,
    };
    vec![
        Kind::builtin::<ConfigMap>(&["cm"]),
        Kind { create_on_update: true, warning: ENDPOINTS_WARNING, ..Kind::builtin::<Endpoints>(&["ep"]) },
        Kind { create_on_update: true, ..Kind::builtin::<Event>(&["ev"]) },
        Kind { namespaced: false, has_status: true, returns_deleted: true, ..Kind::builtin::<Namespace>(&["ns"]) },
        Kind { namespaced: false, has_status: true, ..Kind::builtin::<Node>(&["no"]) },
        in_all(Kind { has_status: true, has_grace: true, returns_deleted: true, ..Kind::builtin::<Pod>(&["po"]) }),
        Kind::builtin::<Secret>(&[]),
        Kind { returns_deleted: true, ..Kind::builtin::<ServiceAccount>(&["sa"]) },
        in_all(Kind {
            has_status: true,
            returns_deleted: true,
            create_on_update: true,
            ..Kind::builtin::<Service>(&["svc"])
        }),
    ]
}

fn workloads() -> Vec<Kind> {
    use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
    use k8s_openapi::api::batch::v1::Job;
    let template = json!({"metadata": {}, "spec": {"containers": null}});
    vec![
        in_all(Kind {
            has_status: true,
            has_scale: true,
            blank: json!({"spec": {"selector": null, "template": template, "strategy": {}}, "status": {}}),
            ..Kind::builtin::<Deployment>(&["deploy"])
        }),
        in_all(Kind {
            has_status: true,
            has_scale: true,
            blank: json!({"spec": {"selector": null, "template": template}, "status": {"replicas": 0}}),
            ..Kind::builtin::<ReplicaSet>(&["rs"])
        }),
        in_all(Kind {
            has_status: true,
            blank: json!({"spec": {"template": template}, "status": {}}),
            ..Kind::builtin::<Job>(&[])
        }),
    ]
}

fn others() -> Vec<Kind> {
    use k8s_openapi::api::coordination::v1::Lease;
    use k8s_openapi::api::discovery::v1::EndpointSlice;
    use k8s_openapi::api::events::v1::Event;
    use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    let role_ref = json!({"roleRef": {"apiGroup": "", "kind": "", "name": ""}});
    vec![
        Kind {
            create_on_update: true,
            unconditional_update: false,
            blank: json!({"spec": {}}),
            ..Kind::builtin::<Lease>(&[])
        },
        Kind { create_on_update: true, ..Kind::builtin::<Event>(&["ev"]) },
        Kind::builtin::<EndpointSlice>(&[]),
        Kind {
            namespaced: false,
            has_status: true,
            categories: vec!["api-extensions".to_owned()],
            blank: json!({"spec": {"group": "", "names": {"plural": "", "kind": ""}, "scope": "", "versions": null}}),
            ..Kind::builtin::<CustomResourceDefinition>(&["crd", "crds"])
        },
        Kind { namespaced: false, ..Kind::builtin::<ClusterRole>(&[]) },
        Kind { namespaced: false, blank: role_ref.clone(), ..Kind::builtin::<ClusterRoleBinding>(&[]) },
        Kind::builtin::<Role>(&[]),
        Kind { blank: role_ref, ..Kind::builtin::<RoleBinding>(&[]) },
    ]
}

/// Adds a kind to those that `kubectl get all` shows.
fn in_all(kind: Kind) -> Kind {
    Kind { categories: vec!["all".to_owned()], ..kind }
}
