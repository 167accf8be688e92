//! The kinds that the server serves: names, capabilities, schemas and validation rules.

mod custom;
mod definition;
mod endpoints;
mod endpointslice;
mod event;
mod metadata;
mod namespace;
mod node;
mod plain;
mod pod;
mod pod_admission;
mod pod_defaults;
mod pod_spec;
mod rbac;
mod resource;
mod rules;
mod scale;
mod secret;
mod service;
mod service_families;
mod service_ports;
mod service_validation;
mod shape;
mod table;
mod times;
mod workloads;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::custom_kind::{PrinterColumn, ScalePaths};
use crate::schema::{Node, ValidationRules, builtin};

pub(crate) use namespace::FINALIZER as NAMESPACE_FINALIZER;
use resource::Resource;
pub(crate) use rules::{Context, Part, Prepared, Rules};
pub(crate) use scale::requested_replicas;
pub(crate) use table::KindTable;

/// A served kind: its names, scope and capabilities, and the rules for storing its objects.
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
pub(crate) struct Kind {
    /// Index of the kind in the [`KindTable`].
    pub(crate) index: usize,
    /// API group; empty for core.
    pub(crate) group: String,
    pub(crate) version: String,
    /// Name of the kind, such as `Pod`.
    pub(crate) name: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// Whether `/status` is a subresource. If so, writes of the main resource do not change the status.
    pub(crate) has_status: bool,
    /// Whether `/scale` is a subresource, with the number of replicas in `spec.replicas` and `status.replicas`, and the
    /// selector of the Pods in `spec.selector`, or for a custom kind in the fields that its definition names.
    pub(crate) has_scale: bool,
    /// Whether DELETE returns the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    /// Whether PUT creates an object that does not exist.
    pub(crate) create_on_update: bool,
    /// Whether PUT without a resourceVersion is allowed; it overwrites any version.
    pub(crate) unconditional_update: bool,
    /// JSON fields after `metadata` in a bookmark object: the fields that Go encodes for an empty object of this kind.
    pub(crate) blank: &'static str,
    /// Warning in the response to every request for the kind, since upstream has deprecated it; empty for none.
    pub(crate) warning: &'static str,
    selectable: &'static [&'static str],
    schema: KindSchema,
    pub(crate) rules: Box<dyn Rules>,
}

/// Schema of a kind.
pub(crate) enum KindSchema {
    /// Name of a built-in schema.
    Builtin(Cow<'static, str>),
    /// Schema of a custom kind, with what else its definition says.
    Custom(Box<CustomSchema>),
}

/// Schema of a custom kind.
pub(crate) struct CustomSchema {
    /// Name in OpenAPI documents.
    name: String,
    schema: Value,
    columns: Vec<PrinterColumn>,
    /// Rules in CEL.
    rules: Option<ValidationRules>,
    scale: Option<ScalePaths>,
    selectable: Vec<String>,
}

impl Kind {
    /// Verbs that every kind supports.
    pub(crate) const VERBS: [&str; 8] =
        ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    /// Verbs that modify objects.
    pub(crate) const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];
    /// Verbs that the `status` subresource supports.
    pub(crate) const STATUS_VERBS: [&str; 3] = ["get", "patch", "update"];

    /// Returns `true` for a custom kind.
    pub(crate) fn is_custom(&self) -> bool {
        matches!(self.schema, KindSchema::Custom(_))
    }

    /// Returns `true` for a subresource that needs a kubelet or a proxy.
    pub(crate) fn needs_containers(&self, subresource: &str) -> bool {
        match (self.group.as_str(), self.plural.as_str()) {
            ("", "pods") => matches!(
                subresource,
                "attach" | "ephemeralcontainers" | "exec" | "log" | "portforward" | "proxy" | "resize"
            ),
            ("", "nodes" | "services") => subresource == "proxy",
            _ => false,
        }
    }

    /// Returns `true` for `CustomResourceDefinition`, whose objects define kinds.
    pub(crate) fn is_definition(&self) -> bool {
        self.name == "CustomResourceDefinition" && self.group == "apiextensions.k8s.io"
    }

    /// Returns the apiVersion, such as `v1` or `discovery.k8s.io/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the resource name used in messages, such as `pods` or `endpointslices.discovery.k8s.io`.
    pub(crate) fn qualified_plural(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// Returns the kind name used in messages, such as `Pod` or `EndpointSlice.discovery.k8s.io`.
    pub(crate) fn qualified_kind(&self) -> String {
        qualified(&self.name, &self.group)
    }

    /// Returns the schema of the objects; `None` if a built-in type has none.
    pub(crate) fn schema(&self) -> Option<Node<'_>> {
        match &self.schema {
            KindSchema::Builtin(name) => Node::of_type(name),
            KindSchema::Custom(custom) => Some(Node::new(&custom.schema)),
        }
    }

    /// Returns the schema and its name in OpenAPI documents.
    pub(crate) fn named_schema(&self) -> Option<(String, &Value)> {
        match &self.schema {
            KindSchema::Builtin(name) => builtin().get(&**name).map(|schema| (name.to_string(), schema)),
            KindSchema::Custom(custom) => Some((custom.name.clone(), &custom.schema)),
        }
    }

    /// Returns the schema with the keys for strategic merge patches; `None` for custom kinds, which do not support
    /// them.
    pub(crate) fn merge_schema(&self) -> Option<Node<'_>> {
        match &self.schema {
            KindSchema::Builtin(name) => Node::of_type(name),
            KindSchema::Custom(_) => None,
        }
    }

    /// Returns the printer columns of the definition; `None` for built-in kinds.
    pub(crate) fn printer_columns(&self) -> Option<&[PrinterColumn]> {
        match &self.schema {
            KindSchema::Builtin(_) => None,
            KindSchema::Custom(custom) => Some(&custom.columns),
        }
    }

    fn custom_schema(&self) -> Option<&CustomSchema> {
        match &self.schema {
            KindSchema::Builtin(_) => None,
            KindSchema::Custom(custom) => Some(custom),
        }
    }

    /// Returns the paths of the fields that a request for a part of an object does not write, as upstream's
    /// `GetResetFields`.
    pub(crate) fn reset_fields(&self, part: Part) -> &'static [&'static [&'static str]] {
        match part {
            Part::Main | Part::Scale if self.has_status => &[&["status"]],
            Part::Main | Part::Scale => &[],
            Part::Status if self.is_custom() || self.is_definition() => &[&["metadata"], &["spec"]],
            Part::Status if self.group.is_empty() && self.name == "Pod" => {
                &[&["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"], &["spec"]]
            }
            Part::Status => &[&["spec"]],
        }
    }

    /// Returns the fields that Go encodes for an empty object of this kind.
    pub(crate) fn empty_object(&self) -> Value {
        if self.is_custom() {
            return Value::Object(Map::new());
        }
        // The constants are JSON.
        serde_json::from_str(&format!("{{\"metadata\":{{}}{}}}", self.blank)).unwrap_or_default()
    }

    /// Returns `true` for a built-in kind without selectable fields of its own, which upstream rejects others for with
    /// a different message.
    pub(crate) fn selects_only_names(&self) -> bool {
        self.selectable.is_empty() && !self.is_custom()
    }

    pub(crate) fn is_selectable(&self, field: &str) -> bool {
        field == "metadata.name"
            || (field == "metadata.namespace" && self.namespaced)
            || self.selectable.contains(&field)
            || self.custom_schema().is_some_and(|custom| custom.selectable.iter().any(|it| it == field))
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
