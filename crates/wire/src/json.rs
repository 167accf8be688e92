//! Decoding of types that implement [`serde::Deserialize`].

use serde::{Deserialize, Deserializer, de::DeserializeOwned};

#[cfg(feature = "k8s-openapi")]
pub use crate::k8s::from_slice_with_times;
use crate::{DecodeError, DecodeProblem};

/// Decodes a JSON document as a `D`; `kind` is the kind that errors name.
///
/// # Errors
///
/// [`DecodeProblem::Json`], with the path of the field, line and column.
///
/// ```
/// let error = kube_wire::json::from_slice::<Vec<u16>>("Ports", b"[1, \"x\"]").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"cannot decode Ports: [1]: invalid type: string "x", expected u16 at line 1 column 7"#,
/// );
/// ```
pub fn from_slice<D: DeserializeOwned>(kind: &str, bytes: &[u8]) -> Result<D, DecodeError> {
    serde_json::from_slice(bytes).map_err(|error| error_with_path::<D>(kind, bytes, &error))
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
        Err(traced) => {
            let path = Some(traced.path().to_string()).filter(|path| path != ".").unwrap_or_default();
            decode_error(kind, path, traced.inner())
        }
        // The value is valid; the error is about trailing characters.
        Ok(_) => decode_error(kind, String::new(), error),
    }
}

pub(crate) fn decode_error(kind: &str, path: String, error: &serde_json::Error) -> DecodeError {
    DecodeError::new(kind, DecodeProblem::Json { path, message: error.to_string() })
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
    #[case::deep(
        r#"{"spec":{"ports":[1,70000]}}"#,
        "spec.ports[1]: invalid value: integer `70000`, expected u16 at line 1 column 25"
    )]
    #[case::missing(r#"{"spec":{}}"#, "spec: missing field `ports` at line 1 column 10")]
    #[case::empty("", "EOF while parsing a value at line 1 column 0")]
    #[case::trailing(r#"{"spec":{"ports":[]}} x"#, "trailing characters at line 1 column 23")]
    fn error_contains_path(#[case] text: &str, #[case] expect: &str) {
        let error = from_slice::<Pod>("Pod", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, format!("cannot decode Pod: {expect}"));
    }
}
