//! Table columns and rows of custom kinds.

use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition;
use serde_json::{Value, json};

use super::{Column, Source, age};

pub(super) fn columns(columns: &[CustomResourceColumnDefinition]) -> Vec<Column> {
    let name = Source::Text("metadata.name".to_owned());
    let mut heads = vec![Column { format: "name", ..Column::new("Name", "string", 0, name) }];
    for column in columns {
        let source = Source::Custom(column.json_path.clone());
        heads.push(Column::new(&column.name, &column.type_, column.priority.unwrap_or_default(), source));
    }
    if columns.is_empty() {
        heads.push(Column::new("Age", "date", 0, Source::Age));
    }
    heads
}

pub(super) fn cell(object: &Value, json_path: &str, value_type: &str, now: Timestamp) -> Value {
    match find(object, json_path) {
        None => Value::Null,
        Some(value) if value_type == "date" => json!(age::since(value.as_str().unwrap_or_default(), now)),
        Some(value) if value.is_object() || value.is_array() => json!(value.to_string()),
        Some(value) if value_type == "string" && !value.is_string() => json!(value.to_string()),
        Some(value) => value.clone(),
    }
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
