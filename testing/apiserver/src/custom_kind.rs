//! Custom kinds, defined in code or by a `CustomResourceDefinition`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomKind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    pub(crate) has_status: bool,
    pub(crate) schema: Value,
    pub(crate) columns: Vec<PrinterColumn>,
    pub(crate) scale: Option<ScalePaths>,
    /// Names of the fields for field selectors, such as `spec.color`.
    pub(crate) selectable: Vec<String>,
}

/// Where the subresource `scale` finds its fields: paths such as `.spec.replicas`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    pub(crate) spec_replicas: String,
    pub(crate) status_replicas: String,
    /// Selector of the Pods as text.
    pub(crate) label_selector: Option<String>,
}

/// A column of `additionalPrinterColumns`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrinterColumn {
    pub(crate) name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub(crate) value_type: String,
    /// A path such as `.spec.replicas` or `.status.conditions[0].type`. Other `JSONPath` features yield empty cells.
    pub(crate) json_path: String,
    pub(crate) priority: i32,
}

impl CustomKind {
    /// Creates a namespaced kind without `/status`. Its plural is the kind in lower case with an `s`.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        let singular = kind.to_lowercase();
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: format!("{singular}s"),
            singular,
            short_names: Vec::new(),
            categories: Vec::new(),
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
    pub fn plural(self, plural: &str) -> Self {
        Self { plural: plural.to_owned(), ..self }
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
        let scale = ScalePaths {
            spec_replicas: spec_replicas.to_owned(),
            status_replicas: status_replicas.to_owned(),
            label_selector: label_selector.map(str::to_owned),
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
        let (name, value_type, json_path) = (name.to_owned(), value_type.to_owned(), json_path.to_owned());
        self.columns.push(PrinterColumn { name, value_type, json_path, priority: 0 });
        self
    }

    /// Returns the kind of a definition in its storage version; `None` if that version is not served.
    pub(crate) fn from_definition(definition: &CustomResourceDefinition) -> Option<Self> {
        let spec = &definition.spec;
        let version = spec.versions.iter().find(|version| version.storage && version.served)?;
        let names = &spec.names;
        let mut kind = Self::new(&spec.group, &version.name, &names.kind).plural(&names.plural);
        if let Some(singular) = &names.singular {
            kind.singular.clone_from(singular);
        }
        kind.short_names = names.short_names.clone().unwrap_or_default();
        kind.categories = names.categories.clone().unwrap_or_default();
        kind.namespaced = spec.scope == "Namespaced";
        kind.has_status = version.subresources.as_ref().is_some_and(|it| it.status.is_some());
        if let Some(scale) = version.subresources.as_ref().and_then(|it| it.scale.as_ref()) {
            let selector = scale.label_selector_path.as_deref();
            kind = kind.with_scale(&scale.spec_replicas_path, &scale.status_replicas_path, selector);
        }
        let selectable = version.selectable_fields.iter().flatten();
        kind.selectable = selectable.map(|field| field.json_path.trim_start_matches('.').to_owned()).collect();
        if let Some(schema) = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()) {
            kind.schema = serde_json::to_value(schema).ok()?;
        }
        let columns = version.additional_printer_columns.iter().flatten();
        kind.columns = columns
            .map(|column| PrinterColumn {
                name: column.name.clone(),
                value_type: column.type_.clone(),
                json_path: column.json_path.clone(),
                priority: column.priority.unwrap_or_default(),
            })
            .collect();
        Some(kind)
    }

    /// Returns the schema of whole objects, with kind, apiVersion and metadata, for OpenAPI documents.
    pub(crate) fn whole_schema(&self) -> Value {
        let mut schema = self.schema.clone();
        if !schema.is_object() {
            schema = json!({"type": "object"});
        }
        let reference = format!("{}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", crate::schema::REF_PREFIX);
        if let Some(schema) = schema.as_object_mut() {
            let properties = schema.entry("properties").or_insert_with(|| json!({}));
            if let Some(properties) = properties.as_object_mut() {
                properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
                properties.insert("kind".to_owned(), json!({"type": "string"}));
                properties.insert("metadata".to_owned(), json!({"allOf": [{"$ref": reference}]}));
            }
            schema.insert(
                "x-kubernetes-group-version-kind".to_owned(),
                json!([{"group": self.group, "version": self.version, "kind": self.kind}]),
            );
        }
        schema
    }

    /// Returns the name of the schema in OpenAPI documents, such as `com.example.v1.Widget`.
    pub(crate) fn schema_name(&self) -> String {
        let reversed: Vec<&str> = self.group.rsplit('.').collect();
        format!("{}.{}.{}", reversed.join("."), self.version, self.kind)
    }
}
