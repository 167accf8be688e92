//! `metav1.LabelSelector`, the selector of workloads, in the syntax of label selectors.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector as MetaSelector;

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
