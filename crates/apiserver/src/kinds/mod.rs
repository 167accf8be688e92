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
mod table;
mod times;

use std::borrow::Cow;

use k8s_openapi::schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::custom_kind::CustomKind;
use crate::schema::{Node, builtin};
use crate::selector::Selector;
use crate::table::PrinterColumn;

pub(crate) use namespace::FINALIZER as NAMESPACE_FINALIZER;
pub(crate) use resource::{Context, Part, Prepared, Resource, Rules, Typed};
pub(crate) use table::KindTable;

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
    /// What it calls selectable fields, and what they are called where they are stored.
    fields: &'static [(&'static str, &'static str)],
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

    /// A selector in the terms of what is stored.
    pub(crate) fn stored_selector(&self, selector: &Selector) -> Selector {
        let names = self.view.as_ref().map_or(&[][..], |view| view.fields);
        Selector { labels: selector.labels.clone(), fields: selector.fields.clone().renamed(names) }
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
