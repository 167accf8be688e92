//! The merge of an applied configuration into an object, as upstream's `typed/merge.go`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::path::Element;
use crate::schema::Node;

/// Merges an applied configuration into an object, whatever the owners of its fields.
///
/// Items of lists with keys and of sets are merged; other lists, and atomic objects, are replaced. Null unsets a field.
pub(super) fn merge_applied(object: &mut Value, applied: Value, schema: Option<Node<'_>>) {
    match (object, applied) {
        (Value::Object(map), Value::Object(applied)) if !schema.is_some_and(Node::is_atomic_map) => {
            merge_fields(map, applied, schema);
        }
        (Value::Array(items), Value::Array(applied)) if schema.is_some_and(is_merged) => {
            *items = merge_items(std::mem::take(items), applied, schema);
        }
        (object, applied) => *object = applied,
    }
}

fn is_merged(schema: Node<'_>) -> bool {
    schema.is_set() || !schema.list_map_keys().is_empty()
}

fn merge_fields(map: &mut Map<String, Value>, applied: Map<String, Value>, schema: Option<Node<'_>>) {
    for (name, value) in applied {
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

/// Merges two lists by the elements of their items. Items of both lists are in the order of `new`; those of `old` alone
/// stay before the item of `old` that they preceded.
fn merge_items(old: Vec<Value>, new: Vec<Value>, schema: Option<Node<'_>>) -> Vec<Value> {
    let keys = schema.map(Node::list_map_keys).unwrap_or_default();
    let item_schema = schema.and_then(Node::items);
    let with_element = |item: Value| (Element::of(&item, &keys, item_schema), item);
    let old: Vec<(Element, Value)> = old.into_iter().map(with_element).collect();
    let new: Vec<(Element, Value)> = new.into_iter().map(with_element).collect();
    let in_new: BTreeSet<&Element> = new.iter().map(|(element, _)| element).collect();
    // Duplicates in the object are not merged with an applied item, which replaces all of them.
    let mut in_old: BTreeMap<&Element, Option<&Value>> = BTreeMap::new();
    for (element, item) in &old {
        in_old.entry(element).and_modify(|item| *item = None).or_insert(Some(item));
    }
    let merge = |element: &Element, applied: &Value| match in_old.get(element) {
        Some(Some(found)) => {
            let mut item = (*found).clone();
            merge_applied(&mut item, applied.clone(), item_schema);
            item
        }
        _ => applied.clone(),
    };
    let mut shared: VecDeque<&Element> = new.iter().map(|(element, _)| element).collect();
    shared.retain(|element| in_old.contains_key(element));
    let mut next = shared.pop_front();
    let mut done = BTreeSet::new();
    let mut merged = Vec::with_capacity(old.len().max(new.len()));
    let (mut left, mut right) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let (first, second) = (left.peek().copied(), right.peek().copied());
        match (first, second) {
            (Some((element, _)), Some((other, applied))) if element == other => {
                merged.push(merge(element, applied));
                done.insert(element);
                next = shared.pop_front();
                left.next();
                right.next();
                continue;
            }
            // An item of both, but not the one whose turn it is.
            (Some((element, _)), Some(_)) if in_new.contains(element) && next.is_some_and(|next| next != element) => {
                left.next();
                continue;
            }
            (Some((element, item)), _) if !in_new.contains(element) => {
                merged.push(item.clone());
                left.next();
                continue;
            }
            (Some((element, _)), _) if done.contains(element) => {
                left.next();
            }
            (None, None) => return merged,
            _ => {}
        }
        if let Some((element, applied)) = right.next() {
            merged.push(merge(element, applied));
            done.insert(element);
            if next == Some(element) {
                next = shared.pop_front();
            }
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
        json!({"metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x/b", "x/a"]}})
    )]
    #[case::items_are_in_the_order_of_the_configuration(
        "Pod",
        json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}}),
        json!({"spec": {"containers": [{"name": "c"}, {"name": "d"}, {"name": "a"}]}}),
        json!({"spec": {"containers": [{"name": "b"}, {"name": "c"}, {"name": "d"}, {"name": "a"}]}})
    )]
    #[case::duplicates_are_replaced(
        "Service",
        json!({"spec": {"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]}}),
        json!({"spec": {"ports": [{"port": 80, "targetPort": 1}]}}),
        json!({"spec": {"ports": [{"port": 80, "targetPort": 1}]}})
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
