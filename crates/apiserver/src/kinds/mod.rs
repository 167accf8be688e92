//! The kinds that the server knows: their names on the wire and the rules of their objects.

mod custom;
mod definition;
mod endpoints;
mod endpointslice;
mod event;
mod event_view;
mod lease;
mod metadata;
mod namespace;
mod node;
mod plain;
mod pod;
mod pod_defaults;
mod rbac;
mod resource;
mod service;
mod service_families;
mod service_ports;
mod service_validation;
mod shape;

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::custom_kind::CustomKind;
use crate::schema::{Node, builtin};
use crate::table::PrinterColumn;

pub(crate) use resource::{Context, Part, Prepared, Resource, Rules, Typed};

/// A kind of object: how it is called, what can be done with it, and the rules it is stored by.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each named where it is set")]
pub(crate) struct Kind {
    /// Where the kind stands in the [`KindTable`].
    pub(crate) index: usize,
    /// The API group; empty for core.
    pub(crate) group: String,
    pub(crate) version: String,
    /// The name of the kind itself: `Pod`.
    pub(crate) name: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// Whether `/status` is a subresource, and the main resource leaves the status alone.
    pub(crate) has_status: bool,
    /// DELETE answers with the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    /// PUT to a name that does not exist creates it.
    pub(crate) create_on_update: bool,
    /// PUT without a resourceVersion overwrites whatever is there.
    pub(crate) unconditional_update: bool,
    /// The object of a bookmark without its metadata: what a Go server prints of an empty object.
    pub(crate) blank: &'static str,
    selectable: &'static [&'static str],
    schema: KindSchema,
    view: Option<View>,
    pub(crate) rules: Box<dyn Rules>,
}

/// Another way to look at the objects of a kind.
pub(crate) struct View {
    /// The apiVersion of what is stored.
    stored_version: &'static str,
    present: fn(&mut Map<String, Value>),
    accept: fn(&mut Map<String, Value>),
}

/// Where the schema of a kind is.
pub(crate) enum KindSchema {
    /// Among those of the built-in types, by this name.
    Builtin(Cow<'static, str>),
    /// What the user has defined.
    Custom { name: String, schema: Value, columns: Vec<PrinterColumn> },
}

impl Kind {
    /// What can be done with the objects of every kind.
    pub(crate) const VERBS: [&str; 8] =
        ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    /// What can be done with the status alone.
    pub(crate) const STATUS_VERBS: [&str; 3] = ["get", "patch", "update"];

    fn builtin<T>(plural: &'static str, singular: &'static str, short_names: &[&str]) -> Self
    where
        T: Resource + k8s_openapi::Resource + JsonSchema,
    {
        Self::typed::<T>(T::GROUP, T::VERSION, T::KIND, T::schema_name(), plural, singular, short_names)
    }

    fn typed<T: Resource>(
        group: &str,
        version: &str,
        name: &str,
        schema: Cow<'static, str>,
        plural: &str,
        singular: &str,
        short_names: &[&str],
    ) -> Self {
        Self {
            index: 0,
            group: group.to_owned(),
            version: version.to_owned(),
            name: name.to_owned(),
            plural: plural.to_owned(),
            singular: singular.to_owned(),
            short_names: short_names.iter().map(|&short| short.to_owned()).collect(),
            categories: Vec::new(),
            namespaced: true,
            has_status: false,
            returns_deleted: false,
            create_on_update: false,
            unconditional_update: true,
            blank: "",
            selectable: T::SELECTABLE,
            schema: KindSchema::Builtin(schema),
            view: None,
            rules: Box::new(Typed::<T>::new()),
        }
    }

    /// A kind that the user has defined.
    pub(crate) fn custom(index: usize, definition: &CustomKind) -> Self {
        Self {
            index,
            group: definition.group.clone(),
            version: definition.version.clone(),
            name: definition.kind.clone(),
            plural: definition.plural.clone(),
            singular: definition.singular.clone(),
            short_names: definition.short_names.clone(),
            categories: definition.categories.clone(),
            namespaced: definition.namespaced,
            has_status: definition.has_status,
            returns_deleted: false,
            create_on_update: false,
            unconditional_update: false,
            blank: "",
            selectable: &[],
            schema: KindSchema::Custom {
                name: definition.schema_name(),
                schema: definition.whole_schema(),
                columns: definition.columns.clone(),
            },
            view: None,
            rules: Box::new(custom::CustomRules),
        }
    }

    /// Whether the user has defined it.
    pub(crate) fn is_custom(&self) -> bool {
        matches!(self.schema, KindSchema::Custom { .. })
    }

    /// Whether its objects define kinds.
    pub(crate) fn is_definition(&self) -> bool {
        self.name == "CustomResourceDefinition" && self.group == "apiextensions.k8s.io"
    }

    /// `v1` or `discovery.k8s.io/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `pods` or `endpointslices.discovery.k8s.io`, as messages name a resource.
    pub(crate) fn qualified_plural(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// `Pod` or `EndpointSlice.discovery.k8s.io`, as messages name a kind.
    pub(crate) fn qualified_kind(&self) -> String {
        qualified(&self.name, &self.group)
    }

    /// The resource as Go prints it in some messages.
    pub(crate) fn display(&self) -> String {
        format!("{}/{}, Resource={}", self.group, self.version, self.plural)
    }

    /// What the fields of its objects are, where that is known.
    pub(crate) fn schema(&self) -> Option<Node<'_>> {
        match &self.schema {
            KindSchema::Builtin(name) => Node::of_type(name),
            KindSchema::Custom { schema, .. } => Some(Node::new(schema)),
        }
    }

    /// The schema with the name it has in OpenAPI documents.
    pub(crate) fn named_schema(&self) -> Option<(String, &Value)> {
        match &self.schema {
            KindSchema::Builtin(name) => builtin().get(&**name).map(|schema| (name.to_string(), schema)),
            KindSchema::Custom { name, schema, .. } => Some((name.clone(), schema)),
        }
    }

    /// The schema by which strategic merge patches are applied; absent for kinds that do not take them.
    pub(crate) fn merge_schema(&self) -> Option<Node<'_>> {
        match &self.schema {
            KindSchema::Builtin(name) => Node::of_type(name),
            KindSchema::Custom { .. } => None,
        }
    }

    /// The columns that its definition names, for kinds that are defined outside of the code.
    pub(crate) fn printer_columns(&self) -> Option<&[PrinterColumn]> {
        match &self.schema {
            KindSchema::Builtin(_) => None,
            KindSchema::Custom { columns, .. } => Some(columns),
        }
    }

    /// Whether its objects are stored as those of another kind.
    pub(crate) fn is_view(&self) -> bool {
        self.view.is_some()
    }

    /// Turns what is stored into an object of this kind.
    pub(crate) fn present(&self, object: &mut Value) {
        if let (Some(view), Value::Object(object)) = (&self.view, object) {
            (view.present)(object);
            object.insert("apiVersion".to_owned(), Value::String(self.api_version()));
        }
    }

    /// Turns an object of this kind into what is stored.
    pub(crate) fn accept(&self, object: &mut Value) {
        if let (Some(view), Value::Object(object)) = (&self.view, object) {
            (view.accept)(object);
            object.insert("apiVersion".to_owned(), Value::String(view.stored_version.to_owned()));
        }
    }

    /// The apiVersion that its stored objects have.
    pub(crate) fn stored_version(&self) -> String {
        self.view.as_ref().map_or_else(|| self.api_version(), |view| view.stored_version.to_owned())
    }

    pub(crate) fn is_selectable(&self, field: &str) -> bool {
        field == "metadata.name"
            || (field == "metadata.namespace" && self.namespaced)
            || self.selectable.contains(&field)
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.qualified_plural())
    }
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// Every kind served, in the order of discovery.
#[derive(Debug, Clone)]
pub(crate) struct KindTable {
    kinds: Vec<Arc<Kind>>,
}

impl KindTable {
    /// The kinds built in.
    pub(crate) fn builtin() -> Self {
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

    /// Adds a kind, in place of the one of its index if there is one.
    pub(crate) fn put(&mut self, kind: Kind) {
        let kind = Arc::new(kind);
        match self.kinds.iter_mut().find(|found| found.index == kind.index && found.is_custom()) {
            Some(found) => *found = kind,
            None => self.kinds.push(kind),
        }
    }

    /// Forgets a kind. Its index is not used again.
    pub(crate) fn remove(&mut self, index: usize) {
        self.kinds.retain(|kind| kind.index != index);
    }

    /// Finds a kind by the names that stand in a path.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.kinds.iter().find(|kind| kind.plural == plural && kind.group == group && kind.version == version)
    }
}
