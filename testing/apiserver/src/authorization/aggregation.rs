//! Aggregation rules of `ClusterRole`s.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// Returns the rules of a role: its own, or, with an aggregation rule, those of all roles that it selects, which may
/// aggregate others.
///
/// In a real cluster, the clusterrole-aggregation controller writes the aggregated rules into the role.
pub(super) fn rules_of(role: &ClusterRole, all: &[ClusterRole]) -> Vec<PolicyRule> {
    let mut rules = Vec::new();
    let (mut seen, mut open) = (vec![role], vec![role]);
    while let Some(role) = open.pop() {
        let Some(aggregation) = &role.aggregation_rule else {
            rules.extend(role.rules.iter().flatten().cloned());
            continue;
        };
        let selectors = aggregation.cluster_role_selectors.as_deref().unwrap_or_default();
        let no_labels = BTreeMap::new();
        for other in all {
            let labels = other.metadata.labels.as_ref().unwrap_or(&no_labels);
            let is_new = !seen.iter().any(|it| it.metadata.name == other.metadata.name);
            if is_new && selectors.iter().any(|selector| matches(selector, labels)) {
                seen.push(other);
                open.push(other);
            }
        }
    }
    rules
}

/// Returns whether `labels` satisfy `selector`. A requirement with an unknown operator is never satisfied.
fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
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

    fn role(name: &str, aggregates: &[&str], labels: &[&str]) -> ClusterRole {
        let label = |part: &&str| (format!("to-{part}"), Value::from("true"));
        let labels: serde_json::Map<_, _> = labels.iter().map(label).collect();
        let selectors: Vec<Value> =
            aggregates.iter().map(|it| json!({"matchLabels": {format!("to-{it}"): "true"}})).collect();
        let rules = json!([{"verbs": [name]}]);
        let aggregation = (!selectors.is_empty()).then(|| json!({"clusterRoleSelectors": selectors}));
        from_value(
            json!({"metadata": {"name": name, "labels": labels}, "rules": rules, "aggregationRule": aggregation}),
        )
        .unwrap()
    }

    #[test]
    fn aggregation_is_transitive_and_may_be_circular() {
        let all = [
            role("admin", &["admin"], &["view"]),
            role("edit", &["edit"], &["admin"]),
            role("view", &["view"], &["edit"]),
            role("pods", &[], &["view"]),
            role("secrets", &[], &["edit"]),
            role("other", &[], &[]),
        ];
        let verbs = |name: &str| {
            let role = all.iter().find(|it| it.metadata.name.as_deref() == Some(name)).unwrap();
            let mut verbs: Vec<String> = rules_of(role, &all).into_iter().flat_map(|it| it.verbs).collect();
            verbs.sort();
            verbs
        };
        assert_eq!(verbs("admin"), ["pods", "secrets"]);
        assert_eq!(verbs("view"), ["pods", "secrets"], "through the circle");
        assert_eq!(verbs("other"), ["other"]);
    }

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
