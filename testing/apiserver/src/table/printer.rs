//! The columns and cells of each kind.

use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition;
use serde_json::Value;

use super::{Column, custom, endpoint_kinds, kinds, pods, services};
use crate::kinds::Kind;

/// Columns of a kind, and the function that computes their cells.
pub(crate) struct Printer<'a> {
    pub(crate) columns: Vec<Column>,
    cells: Cells<'a>,
}

type BuiltinCells = fn(&Value, Timestamp) -> Vec<Value>;

enum Cells<'a> {
    Builtin(BuiltinCells),
    Custom(&'a [CustomResourceColumnDefinition]),
}

impl<'a> Printer<'a> {
    pub(crate) fn of(kind: &'a Kind) -> Self {
        if let Some(custom) = &kind.custom {
            let columns = &custom.definition.columns;
            return Self { columns: custom::heads(columns), cells: Cells::Custom(columns) };
        }
        let (heads, cells): (&str, BuiltinCells) = match (kind.group.as_str(), kind.name.as_str()) {
            ("", "Pod") => (pods::COLUMNS, pods::cells),
            ("", "Service") => (services::COLUMNS, services::cells),
            ("", "Node") => (kinds::NODE_COLUMNS, kinds::node),
            ("", "Namespace") => ("Name Status Age", kinds::namespace),
            ("", "ConfigMap") => ("Name Data Age", kinds::config_map),
            ("", "Secret") => ("Name Type Data# Age", kinds::secret),
            ("", "Event") => ("Last_Seen Type Reason Object Message", kinds::event),
            ("apps", "Deployment") => ("Name Ready Up-to-date Available Age", kinds::deployment),
            ("apps", "ReplicaSet") => ("Name Desired# Current# Ready# Age", kinds::replica_set),
            ("batch", "Job") => ("Name Status Completions Duration Age", kinds::job),
            ("coordination.k8s.io", "Lease") => ("Name Holder Age", kinds::lease),
            ("", "Endpoints") => ("Name Endpoints Age", endpoint_kinds::endpoints),
            ("discovery.k8s.io", "EndpointSlice") => ("Name AddressType Ports Endpoints Age", endpoint_kinds::slice),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => ("Name Created_At", kinds::definition),
            _ => ("Name Age", kinds::anything),
        };
        Self { columns: heads.split(' ').map(head).collect(), cells: Cells::Builtin(cells) }
    }

    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        match self.cells {
            Cells::Builtin(cells) => cells(object, now),
            Cells::Custom(columns) => custom::cells(columns, object, now),
        }
    }
}

/// Parses a column definition such as `Name` or `Nominated_Node+`: `_` is a space, `+` marks a wide column, `#` a number.
fn head(text: &str) -> Column {
    let (text, priority) = text.strip_suffix('+').map_or((text, 0), |text| (text, 1));
    let (text, is_number) = text.strip_suffix('#').map_or((text, false), |text| (text, true));
    let (value_type, format) = match text {
        "Name" => ("string", "name"),
        _ if is_number => ("integer", ""),
        "Created_At" => ("date", ""),
        _ => ("string", ""),
    };
    Column::new(&text.replace('_', " "), value_type, format, priority)
}
