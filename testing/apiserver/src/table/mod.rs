//! `Table` columns and rows of the kinds, as printed by kubectl.

mod age;
mod custom;
mod endpoint_kinds;
mod kinds;
mod pods;
mod printer;
mod services;

use serde::Serialize;
use serde_json::Value;

pub(crate) use printer::Printer;

/// A `TableColumnDefinition`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Column {
    name: String,
    #[serde(rename = "type")]
    value_type: String,
    format: &'static str,
    description: &'static str,
    /// Columns with a priority above 0 are shown with `-o wide` only.
    priority: i32,
    #[serde(skip)]
    source: Source,
}

/// What the cells of a column are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// Text at a path.
    Text(String),
    TextOrNone(String),
    /// Number at a path; 0 if it is absent.
    Count(String),
    Age,
    /// The next result of the function of the kind.
    Special,
    /// Any value at a `JSONPath`.
    Custom(String),
}

impl Column {
    fn new(name: &str, value_type: &str, priority: i32, source: Source) -> Self {
        let (name, value_type) = (name.to_owned(), value_type.to_owned());
        Self { name, value_type, format: "", description: "", priority, source }
    }
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

fn has_condition(object: &Value, type_name: &str) -> bool {
    list(object, "status.conditions")
        .iter()
        .any(|condition| text(condition, "type") == type_name && text(condition, "status") == "True")
}

fn count(object: &Value, path: &str) -> i64 {
    at(object, path).and_then(Value::as_i64).unwrap_or_default()
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
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
