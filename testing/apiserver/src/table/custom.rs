//! Table columns and rows of custom kinds.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Column, age, name};
use crate::custom_kind::PrinterColumn;

pub(super) fn heads(columns: &[PrinterColumn]) -> Vec<Column> {
    let mut heads = vec![Column::new("string", "name", 0).named("Name")];
    for column in columns {
        let value_type = match column.value_type.as_str() {
            "integer" => "integer",
            "number" => "number",
            "boolean" => "boolean",
            "date" => "date",
            _ => "string",
        };
        heads.push(Column::new(value_type, "", column.priority).named(&column.name));
    }
    if columns.is_empty() {
        heads.push(Column::new("date", "", 0).named("Age"));
    }
    heads
}

pub(super) fn cells(columns: &[PrinterColumn], object: &Value, now: Timestamp) -> Vec<Value> {
    let mut cells = vec![name(object)];
    for column in columns {
        cells.push(match find(object, &column.json_path) {
            None => Value::Null,
            Some(value) if column.value_type == "date" => json!(age::since(value.as_str().unwrap_or_default(), now)),
            Some(value) if value.is_object() || value.is_array() => json!(value.to_string()),
            Some(value) if column.value_type == "string" && !value.is_string() => json!(value.to_string()),
            Some(value) => value.clone(),
        });
    }
    if columns.is_empty() {
        cells.push(super::age(object, now));
    }
    cells
}

fn find<'a>(object: &'a Value, json_path: &str) -> Option<&'a Value> {
    json_path.trim_start_matches('.').split('.').try_fold(object, |value, step| {
        let (field, indices) = step.split_once('[').unwrap_or((step, ""));
        let value = value.get(field)?;
        indices
            .split('[')
            .filter(|index| !index.is_empty())
            .try_fold(value, |value, index| value.get(index.strip_suffix(']')?.parse::<usize>().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(".spec.size", json!(3))]
    #[case(".spec.items[1].name", json!("b"))]
    #[case(".spec.nothing", Value::Null)]
    #[case(".spec.items[?(@.name)]", Value::Null)]
    #[case("", Value::Null)]
    fn json_paths_select_values(#[case] path: &str, #[case] expect: Value) {
        let object = json!({"spec": {"size": 3, "items": [{"name": "a"}, {"name": "b"}]}});
        assert_eq!(find(&object, path).cloned().unwrap_or_default(), expect);
    }
}
