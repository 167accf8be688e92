//! Detection of unknown fields.

use serde_json::Value;

use super::Node;

/// Maximum number of unknown fields reported for an object, as upstream.
const MAX: usize = 100;

/// Returns the paths of the fields that the schema does not contain, in the order of the object.
pub(crate) fn unknown_fields(object: &Value, schema: Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    visit(object, schema, &mut String::new(), &mut found);
    found
}

fn visit(value: &Value, schema: Node<'_>, path: &mut String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                match schema.field(name) {
                    Some(field) => visit(value, field, path, found),
                    None if schema.is_open() || schema.is_embedded_field(name) || found.len() >= MAX => {}
                    None => found.push(path.clone()),
                }
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (i, item) in items.iter().enumerate() {
                let length = path.len();
                path.extend(["[", &i.to_string(), "]"]);
                visit(item, schema, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"labels": {"a": "b"}}}), "")]
    #[case(json!({"spec": {"foo": 1, "containers": [{"name": "a"}, {"imge": "x"}]}, "bar": {}}),
        "bar spec.containers[1].imge spec.foo")]
    #[case(json!({"spec": {"volumes": [{"name": "a", "emptyDir": {"x": 1}}]}}), "spec.volumes[0].emptyDir.x")]
    #[case(json!({"spec": {"containers": [{"resources": {"limits": {"example.com/gpu": 1}}}]}}), "")]
    #[case(json!({"metadata": {"managedFields": [{"fieldsV1": {"f:metadata": {}}}]}}), "")]
    fn unknown_pod_fields_are_found(#[case] object: Value, #[case] expect: &str) {
        let pod = Node::of_type("io.k8s.api.core.v1.Pod").unwrap();
        assert_eq!(unknown_fields(&object, pod).join(" "), expect);
    }
}
