//! Custom kinds, defined in code or by a `CustomResourceDefinition`.

use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceSubresourceScale,
};
use serde_json::{Value, json};

/// Definition of a kind that is not built in.
///
/// Its objects are validated by the schema and by its rules in CEL (`x-kubernetes-validations`), with upstream's messages.
/// Unknown fields are pruned and defaults are set. Without a schema any content is valid.
///
/// ```
/// use kube_dev_apiserver::{Config, CustomKind};
///
/// let widgets = CustomKind::new("example.com", "v1", "Widget").with_status();
/// let claims = CustomKind::new("resource.k8s.io", "v1", "ResourceClaim").with_status();
/// let config = Config { kinds: vec![widgets, claims], ..Config::default() };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CustomKind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) names: CustomResourceDefinitionNames,
    pub(crate) namespaced: bool,
    pub(crate) has_status: bool,
    pub(crate) schema: Value,
    /// Columns after the name. Of `JSONPath`, only paths such as `.spec.replicas` or `.status.conditions[0].type` yield cells.
    pub(crate) columns: Vec<CustomResourceColumnDefinition>,
    pub(crate) scale: Option<CustomResourceSubresourceScale>,
    /// Paths of the fields for field selectors, such as `spec.color`.
    pub(crate) selectable: Vec<Arc<str>>,
}

impl CustomKind {
    /// Creates a namespaced kind without `/status`. Its plural is the kind in lower case with an `s`.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        let plural = format!("{}s", kind.to_lowercase());
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            names: CustomResourceDefinitionNames { kind: kind.to_owned(), plural, ..Default::default() },
            namespaced: true,
            has_status: false,
            schema: json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            columns: Vec::new(),
            scale: None,
            selectable: Vec::new(),
        }
    }

    /// Sets the plural resource name, as in paths.
    #[must_use]
    pub fn plural(mut self, plural: &str) -> Self {
        plural.clone_into(&mut self.names.plural);
        self
    }

    /// Makes the kind cluster-scoped.
    #[must_use]
    pub fn cluster_scoped(self) -> Self {
        Self { namespaced: false, ..self }
    }

    /// Adds the subresource `/status`.
    #[must_use]
    pub fn with_status(self) -> Self {
        Self { has_status: true, ..self }
    }

    /// Adds the subresource `/scale`, with the paths of its fields as in a definition: `.spec.replicas`,
    /// `.status.replicas`, and the selector of the Pods as text, such as `.status.selector`.
    #[must_use]
    pub fn with_scale(self, spec_replicas: &str, status_replicas: &str, label_selector: Option<&str>) -> Self {
        let scale = CustomResourceSubresourceScale {
            spec_replicas_path: spec_replicas.to_owned(),
            status_replicas_path: status_replicas.to_owned(),
            label_selector_path: label_selector.map(str::to_owned),
        };
        Self { scale: Some(scale), ..self }
    }

    /// Sets the structural schema of the objects, as in `openAPIV3Schema`.
    #[must_use]
    pub fn schema(self, schema: Value) -> Self {
        Self { schema, ..self }
    }

    /// Adds a column after the name in `kubectl get`: its header, type (`string`, `integer`, `number`, `boolean` or
    /// `date`) and JSON path (`.spec.size`).
    #[must_use]
    pub fn column(mut self, name: &str, value_type: &str, json_path: &str) -> Self {
        self.columns.push(CustomResourceColumnDefinition {
            name: name.to_owned(),
            type_: value_type.to_owned(),
            json_path: json_path.to_owned(),
            ..Default::default()
        });
        self
    }

    /// Returns the kind of a definition in its storage version; `None` if that version is not served.
    pub(crate) fn from_definition(definition: &CustomResourceDefinition) -> Option<Self> {
        let spec = &definition.spec;
        let version = spec.versions.iter().find(|version| version.storage && version.served)?;
        let subresources = version.subresources.clone().unwrap_or_default();
        let selectable = version.selectable_fields.iter().flatten();
        let mut kind = Self {
            names: spec.names.clone(),
            namespaced: spec.scope == "Namespaced",
            has_status: subresources.status.is_some(),
            scale: subresources.scale,
            columns: version.additional_printer_columns.clone().unwrap_or_default(),
            selectable: selectable.map(|field| field.json_path.trim_start_matches('.').into()).collect(),
            ..Self::new(&spec.group, &version.name, &spec.names.kind)
        };
        if let Some(schema) = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()) {
            kind.schema = serde_json::to_value(schema).ok()?;
        }
        Some(kind)
    }

    /// Returns the schema of whole objects, with kind, apiVersion and metadata, for OpenAPI documents.
    pub(crate) fn whole_schema(&self) -> Value {
        let mut schema = if self.schema.is_object() { self.schema.clone() } else { json!({"type": "object"}) };
        let reference = format!("{}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", crate::schema::REF_PREFIX);
        let properties = &mut schema["properties"];
        if !properties.is_object() {
            *properties = json!({});
        }
        (properties["apiVersion"], properties["kind"]) = (json!({"type": "string"}), json!({"type": "string"}));
        properties["metadata"] = json!({"allOf": [{"$ref": reference}]});
        schema["x-kubernetes-group-version-kind"] =
            json!([{"group": self.group, "version": self.version, "kind": self.names.kind}]);
        schema
    }

    /// Returns the name of the schema in OpenAPI documents, such as `com.example.v1.Widget`.
    pub(crate) fn schema_name(&self) -> String {
        let reversed: Vec<&str> = self.group.rsplit('.').collect();
        format!("{}.{}.{}", reversed.join("."), self.version, self.names.kind)
    }
}
