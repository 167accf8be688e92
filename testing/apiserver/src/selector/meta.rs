//! `metav1.LabelSelector`, the selector of workloads, in the syntax of label selectors.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector as MetaSelector;
use serde::Deserialize as _;
use serde_json::Value;

/// Formats a selector as Go's `metav1.FormatLabelSelector`: requirements in the order of their keys, `<none>` for a
/// selector without requirements. `None` if an operator is unknown.
pub(crate) fn format(selector: &MetaSelector) -> Option<String> {
    let equal = selector.match_labels.iter().flatten();
    let mut requirements: Vec<(&str, String)> =
        equal.map(|(key, value)| (key.as_str(), format!("{key}={value}"))).collect();
    for requirement in selector.match_expressions.iter().flatten() {
        let key = &requirement.key;
        let mut values = requirement.values.clone().unwrap_or_default();
        values.sort();
        let values = values.join(",");
        let text = match requirement.operator.as_str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.clone(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        };
        requirements.push((key, text));
    }
    requirements.sort_by(|a, b| a.0.cmp(b.0));
    if requirements.is_empty() {
        return Some("<none>".to_owned());
    }
    Some(requirements.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(","))
}

/// Formats a selector given as JSON; `<error>` if it is invalid.
pub(crate) fn format_json(selector: &Value) -> String {
    let selector = Option::<MetaSelector>::deserialize(selector);
    selector.ok().and_then(|it| format(&it.unwrap_or_default())).unwrap_or_else(|| "<error>".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;
    use serde_json::json;

    use super::super::LabelSelector;
    use super::*;

    #[rstest]
    #[case::none(json!({}), "<none>")]
    #[case::absent(Value::Null, "<none>")]
    #[case::labels(json!({"matchLabels": {"b": "2", "a": "1"}}), "a=1,b=2")]
    #[case::expressions(
        json!({"matchLabels": {"m": "x"}, "matchExpressions": [
            {"key": "z", "operator": "NotIn", "values": ["b", "a"]}, {"key": "a", "operator": "DoesNotExist"},
            {"key": "e", "operator": "Exists"}, {"key": "i", "operator": "In", "values": ["1"]}]}),
        "!a,e,i in (1),m=x,z notin (a,b)"
    )]
    #[case::unknown_operator(json!({"matchExpressions": [{"key": "z", "operator": "Like"}]}), "<error>")]
    fn selectors_are_formatted(#[case] selector: Value, #[case] expect: &str) {
        assert_eq!(format_json(&selector), expect);
    }

    #[test]
    fn formatted_selector_selects() {
        let text = format_json(&json!({"matchLabels": {"app": "web"}, "matchExpressions": [
            {"key": "tier", "operator": "NotIn", "values": ["db"]}]}));
        let selector: LabelSelector = text.parse().unwrap();
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        assert!(selector.matches(&labels(&[("app", "web")])));
        assert!(!selector.matches(&labels(&[("app", "web"), ("tier", "db")])));
    }
}
