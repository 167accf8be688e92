//! Differences between two JSON values, as text.

use serde_json::Value;

use crate::canonical::text;

/// Maximum length of a value in a difference, in characters.
const SHOWN: usize = 400;

/// Returns the differences between two values, each with its path.
///
/// Items of lists are matched regardless of their position, so that one additional item does not make all following
/// items differ. A mere difference in order is reported as one difference.
pub(crate) fn between(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", expected, actual, &mut found);
    found
}

fn walk(place: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    match (expected, actual) {
        _ if expected == actual => {}
        (Value::Object(want), Value::Object(have)) => {
            for (key, want) in want {
                let place = join(place, key);
                match have.get(key) {
                    Some(have) => walk(&place, want, have, found),
                    None => found.push(format!("{place}: missing {}", shown(want))),
                }
            }
            for (key, have) in have.iter().filter(|(key, _)| !want.contains_key(*key)) {
                found.push(format!("{}: unexpected {}", join(place, key), shown(have)));
            }
        }
        (Value::Array(want), Value::Array(have)) => walk_lists(place, want, have, found),
        _ => found.push(format!("{place}: expected {}, found {}", shown(expected), shown(actual))),
    }
}

/// Removes the items that are in both lists, and compares the remaining ones pair by pair.
fn walk_lists(place: &str, want: &[Value], have: &[Value], found: &mut Vec<String>) {
    let before = found.len();
    let mut surplus: Vec<_> = have.iter().collect();
    let mut lacking = Vec::new();
    for (index, want) in want.iter().enumerate() {
        match surplus.iter().position(|have| *have == want) {
            Some(at) => drop(surplus.remove(at)),
            None => lacking.push((index, want)),
        }
    }
    let paired = lacking.len().min(surplus.len());
    for ((index, want), have) in lacking.iter().zip(&surplus) {
        walk(&format!("{place}[{index}]"), want, have, found);
    }
    for (index, want) in &lacking[paired..] {
        found.push(format!("{place}[{index}]: missing {}", shown(want)));
    }
    for have in &surplus[paired..] {
        found.push(format!("{place}: unexpected {}", shown(have)));
    }
    if found.len() == before {
        found.push(format!("{place}: the same items in another order"));
    }
}

fn join(place: &str, key: &str) -> String {
    match place {
        "" => key.to_owned(),
        // The key of a group of slices is the JSON text of their common fields.
        place if key.starts_with('{') => format!("{place}{key}"),
        place if key.contains('.') => format!("{place}[{key:?}]"),
        place => format!("{place}.{key}"),
    }
}

fn shown(value: &Value) -> String {
    let mut text = text(value);
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::equal(json!({ "a": [1, { "b": 2 }] }), json!({ "a": [1, { "b": 2 }] }), &[])]
    #[case::scalar(json!({ "a": { "b": true } }), json!({ "a": { "b": false } }), &["a.b: expected true, found false"])]
    #[case::keys(json!({ "a": { "b": 1 } }), json!({ "a": { "c": 2 } }), &["a.b: missing 1", "a.c: unexpected 2"])]
    #[case::dots(json!({ "a": { "k.io/x": 1 } }), json!({ "a": {} }), &[r#"a["k.io/x"]: missing 1"#])]
    #[case::kinds(json!({ "a": [] }), json!({ "a": {} }), &["a: expected [], found {}"])]
    #[case::one_more(json!({ "a": [1, 2, 3] }), json!({ "a": [0, 1, 2, 3] }), &["a: unexpected 0"])]
    #[case::one_less(json!({ "a": [1, 2, 2] }), json!({ "a": [1, 2] }), &["a[2]: missing 2"])]
    #[case::pairs(json!({ "a": [1, { "x": 1, "y": 1 }] }), json!({ "a": [{ "x": 1, "y": 2 }, 1] }), &["a[1].y: expected 1, found 2"])]
    #[case::order(json!({ "a": [1, 2] }), json!({ "a": [2, 1] }), &["a: the same items in another order"])]
    fn says(#[case] expected: Value, #[case] actual: Value, #[case] expect: &[&str]) {
        assert_eq!(between(&expected, &actual), expect);
    }

    #[test]
    fn long_values_are_cut() {
        let found = between(&json!({}), &json!({ "a": "ä".repeat(1_000) }));
        assert_eq!(found, [format!("a: unexpected \"{}…", "ä".repeat(SHOWN - 1))]);
    }
}
