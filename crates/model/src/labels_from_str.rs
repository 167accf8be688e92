//! Labels in text form, such as `app=web,tier=front` in an annotation or a flag.

use std::str::FromStr;

use crate::Labels;

/// Longest name of a label key, and longest label value, in bytes.
pub const LONGEST_LABEL_VALUE: usize = 63;
/// Longest prefix of a label key, in bytes.
const PREFIX_LIMIT: usize = 253;

/// Error of parsing [`Labels`] from text. Names the part of the text that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseLabelsError {
    /// A part between commas is not a key, one `=` and a value. Operators such as `!=` and `in` are not supported.
    #[error("{0:?} is not KEY=VALUE")]
    NotAPair(String),
    /// The API server accepts no object with this label key.
    #[error("{0:?} is not a label key: at most 63 letters, digits, '-', '_' and '.', after an optional domain and '/'")]
    Key(String),
    /// The API server accepts no object with this label value.
    #[error("{0:?} is not a label value: at most 63 letters, digits, '-', '_' and '.'")]
    Value(String),
}

/// Parses pairs of equality, such as `app=web,tier=front`, for a selector in an annotation or a flag. Spaces around keys and
/// values are ignored; of several pairs with the same key, the last one counts; the empty text is the empty map. Follows
/// `labels.ConvertSelectorToLabelsMap` of Kubernetes' apimachinery.
///
/// ```
/// use kube_endpoint_model::{Labels, ParseLabelsError};
///
/// let selector: Labels = "app=web, example.com/tier=front".parse()?;
/// assert_eq!(selector.get("example.com/tier"), Some("front"));
/// assert_eq!("app".parse::<Labels>(), Err(ParseLabelsError::NotAPair("app".to_owned())));
/// # Ok::<(), ParseLabelsError>(())
/// ```
impl FromStr for Labels {
    type Err = ParseLabelsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Labels::default());
        }
        text.split(',').map(pair).collect()
    }
}

fn pair(part: &str) -> Result<(&str, &str), ParseLabelsError> {
    let pair = part.split_once('=').filter(|(_, value)| !value.contains('='));
    let (key, value) = pair.ok_or_else(|| ParseLabelsError::NotAPair(part.to_owned()))?;
    let (key, value) = (key.trim(), value.trim());
    if !is_key(key) {
        return Err(ParseLabelsError::Key(key.to_owned()));
    }
    if !value.is_empty() && !is_label_value(value) {
        return Err(ParseLabelsError::Value(value.to_owned()));
    }
    Ok((key, value))
}

/// Returns whether the text is a key that the API server accepts (`IsQualifiedName`).
fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_domain(prefix) && is_label_value(name),
        None => is_label_value(key),
    }
}

/// Returns whether a text is a label value that the API server accepts (Go: `IsValidLabelValue`) and is not empty; the name
/// of a label key has the same syntax.
pub fn is_label_value(text: &str) -> bool {
    let inner = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    text.len() <= LONGEST_LABEL_VALUE && text.bytes().all(inner) && has_ends(text, u8::is_ascii_alphanumeric)
}

/// Returns whether the text is a domain in lower case (`IsDNS1123Subdomain`).
fn is_domain(domain: &str) -> bool {
    let end = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let is_part = |part: &str| part.bytes().all(|it| end(&it) || it == b'-') && has_ends(part, end);
    domain.len() <= PREFIX_LIMIT && domain.split('.').all(is_part)
}

/// Returns whether the first and the last byte fulfil a condition; false for empty text.
fn has_ends(text: &str, condition: impl Fn(&u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(&condition) && bytes.last().is_some_and(&condition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::empty("", &[])]
    #[case::one("app=web", &[("app", "web")])]
    #[case::sorted_and_trimmed(" b = 2 ,a=1", &[("a", "1"), ("b", "2")])]
    #[case::last_of_equal_keys("a=1,a=2", &[("a", "2")])]
    #[case::empty_value("a=", &[("a", "")])]
    #[case::prefix("example.com/a.b_c-d=E-f", &[("example.com/a.b_c-d", "E-f")])]
    fn accepted(#[case] text: &str, #[case] expected: &[(&str, &str)]) {
        assert_eq!(text.parse::<Labels>(), Ok(expected.iter().copied().collect()));
    }

    #[rstest]
    #[case::no_value("app", "\"app\" is not KEY=VALUE")]
    #[case::trailing_comma("app=web,", "\"\" is not KEY=VALUE")]
    #[case::double_equals("app==web", "\"app==web\" is not KEY=VALUE")]
    #[case::set("app in (a)", "\"app in (a)\" is not KEY=VALUE")]
    #[case::unequal("app!=web", "\"app!\" is not a label key")]
    #[case::empty_key("=web", "\"\" is not a label key")]
    #[case::upper_case_domain("Example.com/a=b", "\"Example.com/a\" is not a label key")]
    #[case::empty_domain("/a=b", "\"/a\" is not a label key")]
    #[case::two_slashes("a/b/c=d", "\"a/b/c\" is not a label key")]
    #[case::value_with_space("app=a b", "\"a b\" is not a label value")]
    #[case::value_with_dash_at_the_end("app=web-", "\"web-\" is not a label value")]
    fn refused(#[case] text: &str, #[case] expected: &str) {
        let error = text.parse::<Labels>().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[rstest]
    #[case(LONGEST_LABEL_VALUE, true)]
    #[case(LONGEST_LABEL_VALUE + 1, false)]
    fn names_are_bounded(#[case] length: usize, #[case] accepted: bool) {
        let name = "a".repeat(length);
        assert_eq!(format!("{name}=").parse::<Labels>().is_ok(), accepted);
        assert_eq!(format!("a={name}").parse::<Labels>().is_ok(), accepted);
    }

    #[rstest]
    #[case(PREFIX_LIMIT, true)]
    #[case(PREFIX_LIMIT + 1, false)]
    fn prefixes_are_bounded(#[case] length: usize, #[case] accepted: bool) {
        let text = format!("{}/name=value", "a".repeat(length));
        assert_eq!(text.parse::<Labels>().is_ok(), accepted);
    }
}
