//! Server-side apply without field ownership.

use serde_json::{Map, Value};

use crate::schema::Node;

/// Merges an applied configuration into an object.
///
/// Field ownership is not tracked: a field that a client applied before and now omits stays unchanged, and fields set
/// by other clients are overwritten without a conflict.
pub(crate) fn merge_applied(object: &mut Value, applied: Value, schema: Option<Node<'_>>) {
    match (object, applied) {
        (Value::Object(map), Value::Object(applied)) if !schema.is_some_and(Node::is_atomic_map) => {
            merge_fields(map, applied, schema);
        }
        (Value::Array(items), Value::Array(applied)) => {
            let keys = schema.map(Node::list_map_keys).unwrap_or_default();
            let item_schema = schema.and_then(Node::items);
            if !keys.is_empty() {
                merge_items(items, applied, &keys, item_schema);
            } else if schema.is_some_and(Node::is_set) {
                for value in applied {
                    if !items.contains(&value) {
                        items.push(value);
                    }
                }
            } else {
                *items = applied;
            }
        }
        (object, applied) => *object = applied,
    }
}

fn merge_fields(map: &mut Map<String, Value>, applied: Map<String, Value>, schema: Option<Node<'_>>) {
    for (name, value) in applied {
        // As upstream, null unsets a field.
        if value.is_null() {
            map.remove(&name);
            continue;
        }
        let schema = schema.and_then(|schema| schema.field(&name));
        match map.get_mut(&name) {
            Some(found) => merge_applied(found, value, schema),
            None => {
                map.insert(name, value);
            }
        }
    }
}

fn merge_items(items: &mut Vec<Value>, applied: Vec<Value>, keys: &[&str], schema: Option<Node<'_>>) {
    let key = |item: &Value, name: &str| {
        let default = || schema.and_then(|schema| schema.field(name)).and_then(Node::default_value);
        item.get(name).or_else(default).cloned()
    };
    for new in applied {
        match items.iter_mut().find(|item| keys.iter().all(|name| key(item, name) == key(&new, name))) {
            Some(found) => merge_applied(found, new, schema),
            None => items.push(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::ports_by_number_and_protocol(
        "Service",
        json!({"spec": {"ports": [{"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "protocol": "TCP"}]}}),
        json!({"spec": {"ports": [{"port": 53, "targetPort": 5353}]}}),
        json!({"spec": {"ports": [{"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "protocol": "TCP", "targetPort": 5353}]}})
    )]
    #[case::a_selector_is_one_value(
        "Service",
        json!({"spec": {"selector": {"a": "1"}}}),
        json!({"spec": {"selector": {"b": "2"}}}),
        json!({"spec": {"selector": {"b": "2"}}})
    )]
    #[case::labels_merge(
        "Pod",
        json!({"metadata": {"labels": {"a": "1"}, "finalizers": ["x/a"]}}),
        json!({"metadata": {"labels": {"b": "2"}, "finalizers": ["x/b", "x/a"]}}),
        json!({"metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x/a", "x/b"]}})
    )]
    #[case::tolerations_are_one_value(
        "Pod",
        json!({"spec": {"tolerations": [{"key": "a"}]}}),
        json!({"spec": {"tolerations": []}}),
        json!({"spec": {"tolerations": []}})
    )]
    fn merges(#[case] kind: &str, #[case] object: Value, #[case] applied: Value, #[case] expect: Value) {
        let mut object = object;
        merge_applied(&mut object, applied, Node::of_type(&format!("io.k8s.api.core.v1.{kind}")));
        assert_eq!(object, expect);
    }
}
