//! The columns and cells of each kind.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Column, Source};
use super::{age, custom, endpoint_kinds, kinds, pods, services};
use crate::kinds::Kind;

/// Columns of a kind, and the function that computes the [special](Source::Special) cells.
pub(crate) struct Printer {
    pub(crate) columns: Vec<Column>,
    special: Special,
}

type Special = fn(&Value, Timestamp) -> Vec<Value>;

impl Printer {
    pub(crate) fn of(kind: &Kind) -> Self {
        let none: Special = |_, _| Vec::new();
        if let Some(custom) = &kind.custom {
            return Self { columns: custom::columns(&custom.definition.columns), special: none };
        }
        let (heads, special): (&str, Special) = match (kind.group.as_str(), kind.name.as_str()) {
            ("", "Pod") => (pods::COLUMNS, pods::cells),
            ("", "Service") => (services::COLUMNS, services::cells),
            ("", "Node") => (kinds::NODE_COLUMNS, kinds::node),
            ("", "Namespace") => ("Name Status=status.phase Age", none),
            ("", "ConfigMap") => ("Name Data Age", kinds::config_map),
            ("", "Secret") => ("Name Type=type Data# Age", kinds::secret),
            ("", "Event") => ("Last_Seen Type=type Reason=reason Object Message", kinds::event),
            ("apps", "Deployment") => (kinds::DEPLOYMENT_COLUMNS, kinds::deployment),
            ("apps", "ReplicaSet") => (kinds::REPLICA_SET_COLUMNS, none),
            ("batch", "Job") => ("Name Status Completions Duration Age", kinds::job),
            ("coordination.k8s.io", "Lease") => ("Name Holder=spec.holderIdentity Age", none),
            ("", "Endpoints") => ("Name Endpoints Age", endpoint_kinds::endpoints),
            ("discovery.k8s.io", "EndpointSlice") => (endpoint_kinds::SLICE_COLUMNS, endpoint_kinds::slice),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                ("Name Created_At=metadata.creationTimestamp", none)
            }
            _ => ("Name Age", none),
        };
        Self { columns: heads.split(' ').map(column).collect(), special }
    }

    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let mut special = (self.special)(object, now).into_iter();
        let mut cell = |column: &Column| match &column.source {
            Source::Text(path) => json!(super::text(object, path)),
            Source::TextOrNone(path) => json!(super::or(super::text(object, path), "<none>")),
            Source::Count(path) => json!(super::count(object, path)),
            Source::Age => json!(age::since(super::text(object, "metadata.creationTimestamp"), now)),
            Source::Special => special.next().unwrap_or_default(),
            Source::Custom(path) => custom::cell(object, path, &column.value_type, now),
        };
        self.columns.iter().map(&mut cell).collect()
    }
}

/// Parses a column such as `Name`, `Node+=spec.nodeName?` or `Data#`: `_` is a space, `+` marks a wide column, `#` one
/// of numbers. After `=` comes the path of the cell: after `#` that of a number, before `?` that of a text that is
/// shown as `<none>` if it is empty.
fn column(text: &str) -> Column {
    let (text, path) = text.split_once('=').map_or((text, None), |(text, path)| (text, Some(path)));
    let (text, priority) = text.strip_suffix('+').map_or((text, 0), |text| (text, 1));
    let (text, is_number) = text.strip_suffix('#').map_or((text, false), |text| (text, true));
    let (value_type, format) = match text {
        "Name" => ("string", "name"),
        _ if is_number => ("integer", ""),
        "Created_At" => ("date", ""),
        _ => ("string", ""),
    };
    let source = match (text, path) {
        ("Name", _) => Source::Text("metadata.name".to_owned()),
        ("Age", _) => Source::Age,
        (_, None) => Source::Special,
        (_, Some(path)) => match (path.strip_prefix('#'), path.strip_suffix('?')) {
            (Some(path), _) => Source::Count(path.to_owned()),
            (None, Some(path)) => Source::TextOrNone(path.to_owned()),
            (None, None) => Source::Text(path.to_owned()),
        },
    };
    Column { format, ..Column::new(&text.replace('_', " "), value_type, priority, source) }
}
