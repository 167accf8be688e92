//! `Table` columns and rows of the kinds, as printed by kubectl.

mod age;
mod cluster_kinds;
mod custom;
mod endpoint_kinds;
mod events;
mod pods;
mod services;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::kinds::Kind;

pub(crate) use custom::PrinterColumn;

/// A `TableColumnDefinition`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Column {
    name: String,
    #[serde(rename = "type")]
    value_type: &'static str,
    format: &'static str,
    description: &'static str,
    /// Columns with a priority above 0 are shown with `-o wide` only.
    priority: i32,
}

impl Column {
    const fn new(value_type: &'static str, format: &'static str, priority: i32) -> Self {
        Self { name: String::new(), value_type, format, description: "", priority }
    }

    fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }
}

/// Columns of a kind, and the function that computes their cells.
pub(crate) struct Printer<'a> {
    pub(crate) columns: Vec<Column>,
    cells: Cells<'a>,
}

type BuiltinCells = fn(&Value, Timestamp) -> Vec<Value>;

/// Source of the cells.
enum Cells<'a> {
    Builtin(BuiltinCells),
    Custom(&'a [PrinterColumn]),
}

impl<'a> Printer<'a> {
    /// Returns the printer of a kind.
    pub(crate) fn of(kind: &'a Kind) -> Self {
        if let Some(columns) = kind.printer_columns() {
            return Self { columns: custom::heads(columns), cells: Cells::Custom(columns) };
        }
        let (heads, cells): (&str, BuiltinCells) = match (kind.group.as_str(), kind.name.as_str()) {
            ("", "Pod") => (pods::COLUMNS, pods::cells),
            ("", "Service") => (services::COLUMNS, services::cells),
            ("", "Node") => (cluster_kinds::NODE_COLUMNS, cluster_kinds::node),
            ("", "Namespace") => ("Name Status Age", cluster_kinds::namespace),
            ("", "ConfigMap") => ("Name Data Age", cluster_kinds::config_map),
            ("", "ServiceAccount") => ("Name Secrets Age", cluster_kinds::service_account),
            ("coordination.k8s.io", "Lease") => ("Name Holder Age", cluster_kinds::lease),
            ("", "Endpoints") => ("Name Endpoints Age", endpoint_kinds::endpoints),
            ("discovery.k8s.io", "EndpointSlice") => ("Name AddressType Ports Endpoints Age", endpoint_kinds::slice),
            ("" | "events.k8s.io", "Event") => (events::COLUMNS, events::cells),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => ("Name Created_At", cluster_kinds::definition),
            _ => ("Name Age", cluster_kinds::anything),
        };
        Self { columns: heads.split(' ').map(head).collect(), cells: Cells::Builtin(cells) }
    }

    /// Returns the cells of a row.
    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        match self.cells {
            Cells::Builtin(cells) => cells(object, now),
            Cells::Custom(columns) => custom::cells(columns, object, now),
        }
    }
}

/// Parses a column definition such as `Name` or `Nominated_Node+`: `_` is a space, `+` marks a wide column.
fn head(text: &str) -> Column {
    let (text, priority) = text.strip_suffix('+').map_or((text, 0), |text| (text, 1));
    let (value_type, format) = match text {
        "Name" => ("string", "name"),
        "Count" => ("integer", ""),
        "Created_At" => ("date", ""),
        _ => ("string", ""),
    };
    Column::new(value_type, format, priority).named(&text.replace('_', " "))
}

/// Returns the string at a path; empty if it is absent.
fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, field| value.get(field))
}

fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn name(object: &Value) -> Value {
    json!(text(object, "metadata.name"))
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

fn age(object: &Value, now: Timestamp) -> Value {
    json!(age::since(text(object, "metadata.creationTimestamp"), now))
}

/// Returns the first three items, and the number of the others.
fn some_of(all: &[String], when_empty: &str) -> String {
    const MAX_LISTED: usize = 3;
    if all.is_empty() {
        return when_empty.to_owned();
    }
    let listed = all.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(",");
    if all.len() > MAX_LISTED { format!("{listed} + {} more...", all.len() - MAX_LISTED) } else { listed }
}

#[cfg(test)]
mod tests;
