//! The table of served kinds.

use std::sync::{Arc, LazyLock};

use k8s_openapi::schemars::JsonSchema as _;

use super::{Kind, endpointslice, event_view};

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
        use k8s_openapi::api::coordination::v1::Lease;
        use k8s_openapi::api::core::v1::{ConfigMap, Endpoints, Event, Namespace, Node, Pod, Service, ServiceAccount};
        use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
        use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

        let all = |mut kind: Kind| {
            kind.categories = vec!["all".to_owned()];
            kind
        };
        let kinds = vec![
            Kind::builtin::<ConfigMap>("configmaps", "configmap", &["cm"]),
            Kind { create_on_update: true, ..Kind::builtin::<Endpoints>("endpoints", "endpoints", &["ep"]) },
            Kind {
                create_on_update: true,
                blank: r#","involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
                ..Kind::builtin::<Event>("events", "event", &["ev"])
            },
            Kind {
                namespaced: false,
                has_status: true,
                returns_deleted: true,
                blank: r#","spec":{},"status":{}"#,
                ..Kind::builtin::<Namespace>("namespaces", "namespace", &["ns"])
            },
            Kind {
                namespaced: false,
                has_status: true,
                blank: r#","spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
                ..Kind::builtin::<Node>("nodes", "node", &["no"])
            },
            all(Kind {
                has_status: true,
                returns_deleted: true,
                blank: r#","spec":{"containers":null},"status":{}"#,
                ..Kind::builtin::<Pod>("pods", "pod", &["po"])
            }),
            Kind {
                returns_deleted: true,
                ..Kind::builtin::<ServiceAccount>("serviceaccounts", "serviceaccount", &["sa"])
            },
            all(Kind {
                has_status: true,
                returns_deleted: true,
                create_on_update: true,
                blank: r#","spec":{},"status":{"loadBalancer":{}}"#,
                ..Kind::builtin::<Service>("services", "service", &["svc"])
            }),
            Kind {
                create_on_update: true,
                unconditional_update: false,
                blank: r#","spec":{}"#,
                ..Kind::builtin::<Lease>("leases", "lease", &[])
            },
            Kind {
                blank: r#","addressType":"","endpoints":null,"ports":null"#,
                ..Kind::typed::<endpointslice::EndpointSlice>(
                    "discovery.k8s.io",
                    "v1",
                    "EndpointSlice",
                    k8s_openapi::api::discovery::v1::EndpointSlice::schema_name(),
                    "endpointslices",
                    "endpointslice",
                    &[],
                )
            },
            Kind {
                namespaced: false,
                has_status: true,
                categories: vec!["api-extensions".to_owned()],
                blank: r#","spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":null}"#,
                ..Kind::builtin::<CustomResourceDefinition>(
                    "customresourcedefinitions",
                    "customresourcedefinition",
                    &["crd", "crds"],
                )
            },
            Kind {
                namespaced: false,
                blank: r#","rules":null"#,
                ..Kind::builtin::<ClusterRole>("clusterroles", "clusterrole", &[])
            },
            Kind {
                namespaced: false,
                blank: r#","roleRef":{"apiGroup":"","kind":"","name":""}"#,
                ..Kind::builtin::<ClusterRoleBinding>("clusterrolebindings", "clusterrolebinding", &[])
            },
            Kind { blank: r#","rules":null"#, ..Kind::builtin::<Role>("roles", "role", &[]) },
            Kind {
                blank: r#","roleRef":{"apiGroup":"","kind":"","name":""}"#,
                ..Kind::builtin::<RoleBinding>("rolebindings", "rolebinding", &[])
            },
        ];
        let mut kinds: Vec<Kind> = kinds;
        for (index, kind) in kinds.iter_mut().enumerate() {
            kind.index = index;
        }
        if let Some(events) = kinds.iter().find(|kind| kind.name == "Event") {
            let view = event_view::kind(events);
            kinds.push(view);
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
