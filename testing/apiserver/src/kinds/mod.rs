//! The kinds that the server serves: names, capabilities, schemas and validation rules.

mod custom;
mod definition;
mod endpoints;
mod endpointslice;
pub(crate) mod event;
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
mod service;
mod service_families;
mod service_ports;
mod service_validation;
mod shape;
mod table;
mod times;
mod workloads;

use std::sync::Arc;

use k8s_openapi::schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::custom_kind::CustomKind;
use crate::names::NameRule;
use crate::schema::{Node, ValidationRules, builtin};

pub(crate) use endpoints::PROTOCOLS;
pub(crate) use endpointslice::ADDRESS_TYPES;
pub(crate) use namespace::FINALIZER as NAMESPACE_FINALIZER;
use resource::Resource;
use rules::Decode;
pub(crate) use rules::{Context, Part, Prepared};
pub(crate) use scale::requested_replicas;
pub(crate) use service_validation::TRAFFIC_POLICIES;
pub(crate) use table::KindTable;

/// A served kind: its names, scope and capabilities, and the rules for storing its objects.
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
pub(crate) struct Kind {
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
    /// Whether a delete has a grace period.
    pub(crate) has_grace: bool,
    /// Whether DELETE returns the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    /// Whether PUT creates an object that does not exist.
    pub(crate) create_on_update: bool,
    /// Whether PUT without a resourceVersion is allowed; it overwrites any version.
    pub(crate) unconditional_update: bool,
    /// Fields besides `metadata` that Go encodes for an empty object of this kind.
    blank: Value,
    /// Warning in the response to every request for the kind, since upstream has deprecated it; empty for none.
    pub(crate) warning: &'static str,
    /// Paths of the fields that field selectors may use, besides name and namespace.
    selectable: Vec<Arc<str>>,
    /// Name of the schema in OpenAPI documents.
    pub(crate) schema_name: String,
    pub(crate) custom: Option<Box<CustomSchema>>,
    /// Syntax of the names of its objects.
    name_rule: NameRule,
    decode: Decode,
    /// Adds the schema of the type and those that it refers to. A custom kind has a schema of its own.
    pub(crate) add_schema: fn(&mut SchemaGenerator),
}

/// What the definition of a custom kind says.
pub(crate) struct CustomSchema {
    pub(crate) definition: CustomKind,
    /// Schema of whole objects.
    schema: Value,
    /// Rules in CEL.
    rules: Option<ValidationRules>,
}

impl Kind {
    /// Verbs that every kind supports.
    pub(crate) const VERBS: [&str; 8] =
        ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    /// Verbs that modify objects.
    pub(crate) const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];
    pub(crate) const STATUS_VERBS: [&str; 3] = ["get", "patch", "update"];

    pub(crate) fn is_custom(&self) -> bool {
        self.custom.is_some()
    }

    pub(crate) fn needs_containers(&self, subresource: &str) -> bool {
        let of_pods = ["attach", "ephemeralcontainers", "exec", "log", "portforward", "resize"];
        self.group.is_empty() && self.plural == "pods" && of_pods.contains(&subresource)
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
        self.document().map(Node::new)
    }

    /// Returns the schema as in OpenAPI documents.
    pub(crate) fn document(&self) -> Option<&Value> {
        match &self.custom {
            Some(custom) => Some(&custom.schema),
            None => builtin().get(&self.schema_name),
        }
    }

    /// Returns the schema with the keys for strategic merge patches, which custom kinds do not support.
    pub(crate) fn merge_schema(&self) -> Option<Node<'_>> {
        self.schema().filter(|_| !self.is_custom())
    }

    /// Returns the fields that a request for a part of an object does not write: upstream's `GetResetFields`.
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

    /// Returns the JSON of a bookmark: an empty object with this metadata, and kind and apiVersion first, as in Go.
    pub(crate) fn bookmark(&self, metadata: &str) -> String {
        let fields = self.blank.as_object().into_iter().flatten();
        let rest = fields.map(|(field, value)| format!(",\"{field}\":{value}")).collect::<Vec<_>>().concat();
        let (kind, api_version) = (&self.name, self.api_version());
        format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{metadata}{rest}}}"#)
    }

    /// Returns the fields that Go encodes for an empty object of this kind.
    pub(crate) fn empty_object(&self) -> Value {
        let mut empty = self.blank.clone();
        if !self.is_custom() {
            empty["metadata"] = Value::Object(Map::new());
        }
        empty
    }

    /// Returns `true` for a built-in kind without selectable fields of its own, which upstream rejects others for with
    /// a different message.
    pub(crate) fn selects_only_names(&self) -> bool {
        self.selectable.is_empty() && !self.is_custom()
    }

    pub(crate) fn is_selectable(&self, field: &str) -> bool {
        field == "metadata.name"
            || (field == "metadata.namespace" && self.namespaced)
            || self.selectable.iter().any(|it| **it == *field)
    }

    pub(crate) fn selected_fields(&self, object: &Map<String, Value>) -> Vec<(Arc<str>, String)> {
        let at = |path: &str| {
            let mut names = path.split('.');
            let first = object.get(names.next()?)?;
            match names.try_fold(first, |value, name| value.get(name))? {
                Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
                value @ (Value::Bool(_) | Value::Number(_)) => Some(value.to_string()),
                _ => None,
            }
        };
        let value = |path: &str| match path {
            // Of an Event of either age.
            "source" => at("source.component").or_else(|| at("reportingComponent")),
            // As upstream, an absent boolean is `false`.
            "spec.hostNetwork" | "spec.unschedulable" => at(path).or_else(|| Some("false".to_owned())),
            path => at(path),
        };
        self.selectable.iter().filter_map(|path| Some((Arc::clone(path), value(path)?))).collect()
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
