//! Cases of upstream's behaviour: object, patch and expected result.

use rstest::rstest;
use serde_json::json;

use super::*;

fn patched(kind: &str, object: Value, patch: Value) -> Result<Value, StrategicError> {
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
#[case::nulls_in_what_is_new_are_dropped(
    "Pod",
    json!({}),
    json!({"metadata": {"labels": {"a": null, "c": "3"}}}),
    json!({"metadata": {"labels": {"c": "3"}}})
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
#[case::new_finalizers_keep_duplicates(
    "Pod",
    json!({"metadata": {}}),
    json!({"metadata": {"finalizers": ["a/x", "a/x"]}}),
    json!({"metadata": {"finalizers": ["a/x", "a/x"]}})
)]
#[case::new_ordered_finalizers_keep_duplicates(
    "Pod",
    json!({"metadata": {}}),
    json!({"metadata": {"$setElementOrder/finalizers": ["a/x", "a/x"], "finalizers": ["a/x", "a/x"]}}),
    json!({"metadata": {"finalizers": ["a/x", "a/x"]}})
)]
#[case::ordered_finalizers_keep_duplicates(
    "Pod",
    json!({"metadata": {"finalizers": ["a/x", "b/x", "a/x"]}}),
    json!({"metadata": {"$setElementOrder/finalizers": ["b/x", "a/x"]}}),
    json!({"metadata": {"finalizers": ["b/x", "a/x", "a/x"]}})
)]
#[case::merged_finalizers_have_no_duplicates(
    "Pod",
    json!({"metadata": {"finalizers": ["a/x", "a/x"]}}),
    json!({"metadata": {"finalizers": ["b/x", "b/x"]}}),
    json!({"metadata": {"finalizers": ["b/x", "a/x"]}})
)]
#[case::deleted_finalizers(
    "Pod",
    json!({"metadata": {"finalizers": ["a/x", "b/x", "a/x"]}}),
    json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/x"]}}),
    json!({"metadata": {"finalizers": ["b/x"]}})
)]
#[case::new_items_keep_duplicates(
    "Service",
    json!({"spec": {}}),
    json!({"spec": {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]}}),
    json!({"spec": {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]}})
)]
#[case::directives_for_nothing_are_dropped(
    "Pod",
    json!({"metadata": {}}),
    json!({"metadata": {"labels": {"$patch": "replace", "a": "1"}, "ownerReferences": [{"$patch": "delete", "uid": "1"}]}}),
    json!({"metadata": {"ownerReferences": []}})
)]
#[case::owners_are_known_by_uid(
    "Pod",
    json!({"metadata": {"ownerReferences": [{"uid": "1", "name": "a"}]}}),
    json!({"metadata": {"ownerReferences": [{"uid": "1", "controller": true}]}}),
    json!({"metadata": {"ownerReferences": [{"uid": "1", "name": "a", "controller": true}]}})
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
    json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}),
    json!({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}),
    json!({"spec": {"containers": [{"name": "b"}, {"name": "a"}]}})
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

#[rstest]
#[case::no_key(json!({"spec": {"ports": [{"name": "x"}]}}), "map: map[name:x] does not contain declared merge key: port")]
#[case::key_of_a_deleted_item(json!({"spec": {"ports": [{"$patch": "delete"}]}}),
    "map: map[$patch:delete] does not contain declared merge key: port")]
#[case::no_such_directive(json!({"spec": {"$patch": "x"}}), "unknown patch type: x in map: map[$patch:x]")]
#[case::no_text(json!({"spec": {"$patch": 1}}), "unknown patch type: %!s(int64=1) in map: map[$patch:1]")]
#[case::merged_map(json!({"spec": {"$patch": "merge", "type": "x"}}), "unknown patch type: merge in map: map[$patch:merge type:x]")]
#[case::merged_item(json!({"spec": {"ports": [{"$patch": "merge"}]}}), "merging lists cannot yet be specified in the patch")]
#[case::no_such_directive_in_a_list(json!({"spec": {"ports": [{"$patch": "x", "port": 1}]}}),
    "unknown patch type: x in map: map[$patch:x port:1]")]
#[case::not_a_list(json!({"metadata": {"$setElementOrder/finalizers": 1}}), "expected a []interface {}, but received a int64")]
#[case::not_a_patched_list(json!({"spec": {"$setElementOrder/ports": [], "ports": "x"}}),
    "expected a []interface {}, but received a string")]
#[case::another_order(json!({"spec": {"$setElementOrder/ports": [{"port": 2}, {"port": 1}], "ports": [{"port": 1}, {"port": 2}]}}),
    "The order in patch list:\n[map[port:1] map[port:2]]\n doesn't match $setElementOrder list:\n[map[port:2] map[port:1]]\n")]
#[case::mixed_types(json!({"spec": {"ports": [{"port": 1}, 2]}}),
    "list element types are not identical: [[map[port:80]] [map[port:1] 2]]")]
#[case::lists_of_lists(json!({"metadata": {"finalizers": [["x"]]}}), "list element types are not identical: [[a/x] [[x]]]")]
#[case::retained_without_what_is_set(json!({"spec": {"$retainKeys": ["a"], "type": "x"}}), "invalid patch format of retainKeys")]
#[case::retained_by_no_list(json!({"spec": {"$retainKeys": "a"}}), "invalid patch format of retainKeys")]
#[case::unknown_list(json!({"spec": {"$setElementOrder/foo": []}}),
    "unable to find api field in struct ServiceSpec for the json field \"foo\"")]
#[case::not_an_object(json!([]), "json: cannot unmarshal array into Go value of type map[string]interface {}")]
fn invalid_patches_are_rejected(#[case] patch: Value, #[case] message: &str) {
    let object = json!({"metadata": {"finalizers": ["a/x"]}, "spec": {"ports": [{"port": 80}], "type": "ClusterIP"}});
    let error = patched("Service", object, patch).unwrap_err();
    assert_eq!(error.to_string(), message);
}
