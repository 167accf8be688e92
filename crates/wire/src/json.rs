//! Decoding of types that implement [`serde::Deserialize`], with Go's treatment of unusual JSON.

mod canonical;

use serde::{Deserialize, Deserializer, de::DeserializeOwned};

pub(crate) use self::canonical::{Node, read};
use crate::{DecodeError, DecodeProblem, Location};

/// Decodes a JSON document as a `D`; `kind` is the kind that errors name.
///
/// JSON that Go's `encoding/json` accepts and `serde_json` does not is decoded as in Go: a repeated member is merged
/// with the earlier one or replaces it, and unpaired surrogates and invalid UTF-8 become U+FFFD. Only documents that
/// `serde_json` rejects are decoded a second time for this.
///
/// # Errors
///
/// [`DecodeProblem::Json`], with the path of the field, line and column.
///
/// ```
/// let error = kube_wire::json::from_slice::<Vec<u16>>("Ports", b"[1, \"x\"]").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"cannot decode Ports: [1] (line 1 column 7): invalid type: string "x", expected u16"#,
/// );
/// ```
pub fn from_slice<D: DeserializeOwned>(kind: &str, bytes: &[u8]) -> Result<D, DecodeError> {
    serde_json::from_slice(bytes).or_else(|error| {
        let rewritten = read(bytes).and_then(|node| serde_json::from_slice(&node.to_json()).ok());
        rewritten.ok_or_else(|| error_with_path::<D>(kind, bytes, &error))
    })
}

/// For `deserialize_with`: decodes `null` as the default value, as in Go.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Decodes again with path tracking, to find the field that `error` is about.
fn error_with_path<D: DeserializeOwned>(kind: &str, bytes: &[u8], error: &serde_json::Error) -> DecodeError {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, D>(&mut reader) {
        Err(traced) => decode_error(kind, path_text(traced.path()), traced.inner()),
        // The value is valid; the error is about trailing characters.
        Ok(_) => decode_error(kind, String::new(), error),
    }
}

/// Converts an error of `serde_json`; the position is moved from the message to [`Location`].
pub(crate) fn decode_error(kind: &str, path: String, error: &serde_json::Error) -> DecodeError {
    let (line, column) = (error.line(), error.column());
    let mut message = error.to_string();
    if let Some(end) = message.rfind(&format!(" at line {line} column {column}")) {
        message.truncate(end);
    }
    let location = Location { path, line, column };
    DecodeError::new(kind, DecodeProblem::Json { location, message })
}

fn path_text(path: &serde_path_to_error::Path) -> String {
    match path.to_string() {
        root if root == "." => String::new(),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Pod {
        #[serde(rename = "spec")]
        _spec: Spec,
    }

    #[derive(Debug, Deserialize)]
    struct Spec {
        #[serde(rename = "ports")]
        _ports: Vec<u16>,
    }

    #[rstest]
    #[case::deep(r#"{"spec":{"ports":[1,70000]}}"#, "spec.ports[1] (line 1 column 25): invalid value")]
    #[case::missing(r#"{"spec":{}}"#, "spec (line 1 column 10): missing field `ports`")]
    #[case::syntax(r#"{"spec":"#, "spec (line 1 column 8): EOF while parsing")]
    #[case::empty("", "line 1 column 0: EOF while parsing a value")]
    #[case::trailing(r#"{"spec":{"ports":[]}} x"#, "line 1 column 23: trailing characters")]
    fn error_contains_path(#[case] text: &str, #[case] expect: &str) {
        let error = from_slice::<Pod>("Pod", text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot decode Pod: {expect}")), "{error}");
        assert!(!error.contains(" at line"), "the position occurs once: {error}");
    }
}
