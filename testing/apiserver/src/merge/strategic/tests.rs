//! Cases of upstream's behaviour: object, patch and expected result.

use rstest::rstest;
use serde_json::json;

use super::*;

fn patched(kind: &str, object: Value, patch: Value) -> Merge<Value> {
    let mut object = object;
    let schema = Node::of_type(&format!("io.k8s.api.core.v1.{kind}")).unwrap();
    merge_strategic(&mut object, patch, Some(schema))?;
    Ok(object)
}

#[rstest]
#[case::maps_merge_and_null_deletes(
    "Pod",
    json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
    json!({"metadata": {"labels": {"a": null, "c": "3"}}}),
    json!({"metadata": {"labels": {"b": "2", "c": "3"}}})
)]
#[case::ports_of_a_service_are_known_by_number(
    "Service",
    json!({"spec": {"ports": [{"port": 80, "name": "http"}, {"port": 443, "name": "https"}]}}),
    json!({"spec": {"ports": [{"port": 443, "targetPort": 8443}]}}),
    json!({"spec": {"ports": [{"port": 80, "name": "http"}, {"port": 443, "name": "https", "targetPort": 8443}]}})
)]
#[case::an_item_is_deleted_by_its_key(
    "Pod",
    json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}),
    json!({"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}),
    json!({"spec": {"containers": [{"name": "b"}]}})
)]
#[case::a_list_is_replaced(
    "Pod",
    json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}),
    json!({"spec": {"containers": [{"$patch": "replace"}, {"name": "c"}]}}),
    json!({"spec": {"containers": [{"name": "c"}]}})
)]
#[case::a_map_is_replaced(
    "Pod",
    json!({"metadata": {"labels": {"a": "1"}}}),
    json!({"metadata": {"labels": {"$patch": "replace", "b": "2"}}}),
    json!({"metadata": {"labels": {"b": "2"}}})
)]
#[case::a_map_is_emptied(
    "Pod",
    json!({"metadata": {"labels": {"a": "1"}}}),
    json!({"metadata": {"labels": {"$patch": "delete"}}}),
    json!({"metadata": {"labels": {}}})
)]
#[case::nested_lists(
    "Pod",
    json!({"spec": {"containers": [{"name": "a", "env": [{"name": "x", "value": "1"}, {"name": "y", "value": "2"}]}]}}),
    json!({"spec": {"containers": [{"name": "a", "env": [{"name": "y", "$patch": "delete"}, {"name": "z", "value": "3"}]}]}}),
    json!({"spec": {"containers": [{"name": "a", "env": [{"name": "z", "value": "3"}, {"name": "x", "value": "1"}]}]}})
)]
#[case::tolerations_are_atomic(
    "Pod",
    json!({"spec": {"tolerations": [{"key": "a"}]}}),
    json!({"spec": {"tolerations": [{"key": "b"}]}}),
    json!({"spec": {"tolerations": [{"key": "b"}]}})
)]
#[case::finalizers_are_a_set(
    "Pod",
    json!({"metadata": {"finalizers": ["a/x", "b/x"]}}),
    json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/x"], "finalizers": ["c/x"]}}),
    json!({"metadata": {"finalizers": ["c/x", "b/x"]}})
)]
#[case::new_items_keep_duplicates(
    "Service",
    json!({"spec": {}}),
    json!({"spec": {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]}}),
    json!({"spec": {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]}})
)]
#[case::conditions_are_known_by_type(
    "Node",
    json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    json!({"status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "Other", "status": "True"}]}}),
    json!({"status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "Other", "status": "True"}]}})
)]
#[case::order_is_set(
    "Pod",
    json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}),
    json!({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "a", "image": "x"}]}}),
    json!({"spec": {"containers": [{"name": "b"}, {"name": "a", "image": "x"}]}})
)]
#[case::order_alone(
    "Pod",
    json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}}),
    json!({"spec": {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]}}),
    json!({"spec": {"containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}]}})
)]
#[case::keys_are_retained(
    "Pod",
    json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}),
    json!({"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]}}),
    json!({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}})
)]
fn patches_are_merged_by_schema(
    #[case] kind: &str,
    #[case] object: Value,
    #[case] patch: Value,
    #[case] expect: Value,
) {
    assert_eq!(patched(kind, object, patch).unwrap(), expect);
}
