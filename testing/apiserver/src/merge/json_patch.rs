//! JSON patches (RFC 6902) as the library of upstream's API server applies them (`evanphx/json-patch` v4).

use serde::Deserialize;
use serde_json::{Map, Value};

/// Operation of a JSON patch.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct JsonOperation {
    op: String,
    path: Option<String>,
    from: Option<String>,
    value: Value,
}

/// The patch does not apply. Upstream does not say why in its response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("operation {index} ({op}) does not apply: {why}")]
pub(crate) struct JsonPatchError {
    index: usize,
    op: String,
    why: String,
}

/// Applies the operations in order. Unlike in RFC 6902, and as upstream, `replace` of an absent member adds it, `test` of
/// an absent member for null succeeds, `copy` of one adds null, and a negative index counts from the end of the list.
///
/// # Errors
/// [`JsonPatchError`] for the first operation that does not apply; the value may be partly changed.
pub(crate) fn apply_json_patch(value: &mut Value, operations: &[JsonOperation]) -> Result<(), JsonPatchError> {
    for (index, operation) in operations.iter().enumerate() {
        let op = || operation.op.clone();
        apply(value, operation).map_err(|why| JsonPatchError { index, op: op(), why })?;
    }
    Ok(())
}

fn apply(value: &mut Value, operation: &JsonOperation) -> Result<(), String> {
    let path = || operation.path.as_deref().ok_or("no path");
    let from = || operation.from.as_deref().ok_or("no from");
    match operation.op.as_str() {
        "add" => locate(value, path()?)?.add(operation.value.clone()),
        "remove" => locate(value, path()?)?.remove().map(drop),
        "replace" => replace(value, path()?, &operation.value),
        "move" => {
            let moved = locate(value, from()?)?.remove()?;
            locate(value, path()?)?.add(moved)
        }
        "copy" => {
            let copied = locate(value, from()?)?.get()?.cloned().unwrap_or_default();
            locate(value, path()?)?.add(copied)
        }
        "test" => {
            let found = match path()? {
                "" => value.clone(),
                path => locate(value, path)?.get()?.cloned().unwrap_or_default(),
            };
            if found == operation.value { Ok(()) } else { Err(format!("the value is {found}")) }
        }
        other => Err(format!("unknown operation {other:?}")),
    }
}

fn replace(value: &mut Value, path: &str, new: &Value) -> Result<(), String> {
    if path.is_empty() {
        if !new.is_object() && !new.is_array() {
            return Err("an object can only be replaced by an object or a list".to_owned());
        }
        value.clone_from(new);
        return Ok(());
    }
    locate(value, path)?.set(new.clone())
}

/// A member of an object or an item of a list, which may be absent.
enum Place<'a> {
    Member(&'a mut Map<String, Value>, String),
    Item(&'a mut Vec<Value>, String),
}

/// Returns the place that a path leads to.
fn locate<'a>(value: &'a mut Value, path: &str) -> Result<Place<'a>, String> {
    let (parents, last) = path.rsplit_once('/').ok_or_else(|| format!("no path {path:?}"))?;
    let mut found = value;
    for name in parents.split('/').skip(1) {
        let missing = || format!("{path:?} is missing at {name:?}");
        found = match place(found, name).ok_or_else(missing)? {
            Place::Member(map, name) => map.get_mut(&name).ok_or_else(missing)?,
            Place::Item(items, index) => {
                let index = position(&index, items.len())?;
                items.get_mut(index).ok_or_else(missing)?
            }
        };
    }
    place(found, last).ok_or_else(|| format!("{path:?} is neither in an object nor in a list"))
}

fn place<'a>(value: &'a mut Value, name: &str) -> Option<Place<'a>> {
    let name = name.replace("~1", "/").replace("~0", "~");
    match value {
        Value::Object(map) => Some(Place::Member(map, name)),
        Value::Array(items) => Some(Place::Item(items, name)),
        _ => None,
    }
}

impl Place<'_> {
    /// Returns the value; `None` for an absent member.
    fn get(&self) -> Result<Option<&Value>, String> {
        match self {
            Place::Member(map, name) => Ok(map.get(name)),
            Place::Item(items, index) => Ok(items.get(position(index, items.len())?)),
        }
    }

    fn set(self, value: Value) -> Result<(), String> {
        match self {
            Place::Member(map, name) => {
                map.insert(name, value);
            }
            Place::Item(items, index) => {
                let index = position(&index, items.len())?;
                items[index] = value;
            }
        }
        Ok(())
    }

    fn add(self, value: Value) -> Result<(), String> {
        match self {
            Place::Member(map, name) => {
                map.insert(name, value);
            }
            Place::Item(items, index) if index == "-" => items.push(value),
            Place::Item(items, index) => {
                // An item can be added after the last one.
                let index = position(&index, items.len() + 1)?;
                items.insert(index, value);
            }
        }
        Ok(())
    }

    fn remove(self) -> Result<Value, String> {
        match self {
            Place::Member(map, name) => map.remove(&name).ok_or_else(|| format!("no member {name:?}")),
            Place::Item(items, index) => {
                let index = position(&index, items.len())?;
                Ok(items.remove(index))
            }
        }
    }
}

/// Parses an index below `count`.
fn position(index: &str, count: usize) -> Result<usize, String> {
    let number: i64 = index.parse().map_err(|_| format!("{index:?} is no index"))?;
    let from_end = number.unsigned_abs();
    let position = if number < 0 { (count as u64).checked_sub(from_end) } else { Some(from_end) };
    position
        .and_then(|position| usize::try_from(position).ok())
        .filter(|position| *position < count)
        .ok_or_else(|| format!("no item {index}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    // The object is `{"a": {"b": 1}, "l": [1, 2], "n": null}`. `None`: the patch does not apply.
    #[rstest]
    #[case::add(json!({"op": "add", "path": "/a/c", "value": 2}), Some(json!({"a": {"b": 1, "c": 2}})))]
    #[case::add_existing(json!({"op": "add", "path": "/a/b", "value": 2}), Some(json!({"a": {"b": 2}})))]
    #[case::add_without_value(json!({"op": "add", "path": "/a/c"}), Some(json!({"a": {"b": 1, "c": null}})))]
    #[case::add_below_nothing(json!({"op": "add", "path": "/x/y", "value": 2}), None)]
    #[case::add_below_null(json!({"op": "add", "path": "/n/y", "value": 2}), None)]
    #[case::add_below_a_number(json!({"op": "add", "path": "/a/b/c", "value": 2}), None)]
    #[case::append(json!({"op": "add", "path": "/l/-", "value": 3}), Some(json!({"l": [1, 2, 3]})))]
    #[case::insert(json!({"op": "add", "path": "/l/0", "value": 3}), Some(json!({"l": [3, 1, 2]})))]
    #[case::insert_last(json!({"op": "add", "path": "/l/2", "value": 3}), Some(json!({"l": [1, 2, 3]})))]
    #[case::insert_beyond(json!({"op": "add", "path": "/l/3", "value": 3}), None)]
    #[case::insert_from_the_end(json!({"op": "add", "path": "/l/-1", "value": 3}), Some(json!({"l": [1, 2, 3]})))]
    #[case::replace(json!({"op": "replace", "path": "/a/b", "value": 2}), Some(json!({"a": {"b": 2}})))]
    #[case::replace_absent(json!({"op": "replace", "path": "/a/c", "value": 2}), Some(json!({"a": {"b": 1, "c": 2}})))]
    #[case::replace_below_nothing(json!({"op": "replace", "path": "/x/y", "value": 2}), None)]
    #[case::replace_item(json!({"op": "replace", "path": "/l/1", "value": 3}), Some(json!({"l": [1, 3]})))]
    #[case::replace_last(json!({"op": "replace", "path": "/l/-1", "value": 3}), Some(json!({"l": [1, 3]})))]
    #[case::replace_absent_item(json!({"op": "replace", "path": "/l/2", "value": 3}), None)]
    #[case::replace_no_item(json!({"op": "replace", "path": "/l/-", "value": 3}), None)]
    #[case::replace_all(json!({"op": "replace", "path": "", "value": {"a": 1, "l": 1, "n": 1}}),
        Some(json!({"a": 1, "l": 1, "n": 1})))]
    #[case::replace_all_by_a_number(json!({"op": "replace", "path": "", "value": 1}), None)]
    #[case::remove(json!({"op": "remove", "path": "/a/b"}), Some(json!({"a": {}})))]
    #[case::remove_absent(json!({"op": "remove", "path": "/a/c"}), None)]
    #[case::remove_item(json!({"op": "remove", "path": "/l/0"}), Some(json!({"l": [2]})))]
    #[case::remove_absent_item(json!({"op": "remove", "path": "/l/-3"}), None)]
    #[case::moved(json!({"op": "move", "from": "/a/b", "path": "/l/0"}), Some(json!({"a": {}, "l": [1, 1, 2]})))]
    #[case::move_absent(json!({"op": "move", "from": "/a/c", "path": "/l/0"}), None)]
    #[case::copied(json!({"op": "copy", "from": "/l/0", "path": "/a/c"}), Some(json!({"a": {"b": 1, "c": 1}})))]
    #[case::copy_absent(json!({"op": "copy", "from": "/x", "path": "/a/c"}), Some(json!({"a": {"b": 1, "c": null}})))]
    #[case::copy_below_nothing(json!({"op": "copy", "from": "/x/y", "path": "/a/c"}), None)]
    #[case::test(json!({"op": "test", "path": "/l", "value": [1, 2]}), Some(json!({})))]
    #[case::test_other(json!({"op": "test", "path": "/l", "value": [2, 1]}), None)]
    #[case::test_absent(json!({"op": "test", "path": "/a/c", "value": 1}), None)]
    #[case::test_absent_for_null(json!({"op": "test", "path": "/a/c", "value": null}), Some(json!({})))]
    #[case::test_absent_without_value(json!({"op": "test", "path": "/a/c"}), Some(json!({})))]
    #[case::escaped(json!({"op": "add", "path": "/a/x~1y~0z", "value": 2}), Some(json!({"a": {"b": 1, "x/y~z": 2}})))]
    #[case::no_path(json!({"op": "add", "value": 2}), None)]
    #[case::no_from(json!({"op": "move", "path": "/a/c"}), None)]
    #[case::no_pointer(json!({"op": "add", "path": "a", "value": 2}), None)]
    #[case::unknown(json!({"op": "put", "path": "/a", "value": 2}), None)]
    fn operations_apply_as_in_upstreams_library(#[case] operation: Value, #[case] changed: Option<Value>) {
        let mut value = json!({"a": {"b": 1}, "l": [1, 2], "n": null});
        let mut expect = value.clone();
        let operation: JsonOperation = serde_json::from_value(operation).unwrap();
        let result = apply_json_patch(&mut value, &[operation]);
        assert_eq!(result.is_ok(), changed.is_some(), "{result:?}");
        if let Some(Value::Object(changed)) = changed {
            expect.as_object_mut().unwrap().extend(changed);
            assert_eq!(value, expect);
        }
    }

    #[test]
    fn operations_apply_in_order() {
        let operations: Vec<JsonOperation> = serde_json::from_value(json!([
            {"op": "add", "path": "/a", "value": {}}, {"op": "add", "path": "/a/b", "value": 1}, {"op": "remove", "path": "/c"}
        ]))
        .unwrap();
        let error = apply_json_patch(&mut json!({}), &operations).unwrap_err();
        assert_eq!(error.to_string(), "operation 2 (remove) does not apply: no member \"c\"");
    }
}
