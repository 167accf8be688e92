//! Label selectors of the aggregation rules of `ClusterRole`s.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// Returns whether `labels` satisfy `selector`. A requirement with an unknown operator is never satisfied.
pub(super) fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let pairs = selector.match_labels.iter().flatten().all(|(key, value)| labels.get(key) == Some(value));
    pairs
        && selector.match_expressions.iter().flatten().all(|requirement| {
            let found = labels.get(&requirement.key);
            let listed = |value: &String| requirement.values.iter().flatten().any(|it| it == value);
            match requirement.operator.as_str() {
                "In" => found.is_some_and(listed),
                "NotIn" => !found.is_some_and(listed),
                "Exists" => found.is_some(),
                "DoesNotExist" => found.is_none(),
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    #[rstest]
    #[case(json!({}), true)]
    #[case(json!({"matchLabels": {"a": "1"}}), true)]
    #[case(json!({"matchLabels": {"a": "1", "b": "1"}}), false)]
    #[case(json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["0", "1"]}]}), true)]
    #[case(json!({"matchExpressions": [{"key": "b", "operator": "In", "values": ["1"]}]}), false)]
    #[case(json!({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}), false)]
    #[case(json!({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["1"]}]}), true)]
    #[case(json!({"matchExpressions": [{"key": "a", "operator": "Exists"}]}), true)]
    #[case(json!({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}), false)]
    #[case(json!({"matchExpressions": [{"key": "a", "operator": "Resembles"}]}), false)]
    fn aggregation_selectors_match_labels(#[case] selector: Value, #[case] expect: bool) {
        let labels = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        assert_eq!(matches(&from_value(selector).unwrap(), &labels), expect);
    }
}
