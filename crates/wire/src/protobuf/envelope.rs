//! Envelope of every protobuf object of Kubernetes: the magic number `k8s\0` and a `runtime.Unknown` message.

use super::{
    Fields, MalformedProtobuf, Path, Problem,
    fields::{type_meta, unknown},
};
use crate::{DecodeError, Resource};

/// First bytes of every protobuf body of Kubernetes.
pub(crate) const MAGIC: [u8; 4] = *b"k8s\0";

/// Content of an envelope: an encoded object and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// `kind` of the object.
    pub kind: &'a str,
    /// `apiVersion` of the object.
    pub api_version: &'a str,
    /// Encoded message of the object.
    pub object: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Parses the envelope of one object.
    ///
    /// # Errors
    ///
    /// [`Problem::NoEnvelope`] if `bytes` do not begin with `k8s\0`; other problems if the envelope is malformed or has
    /// a content encoding. The object itself is not checked.
    pub fn open(bytes: &'a [u8]) -> Result<Self, MalformedProtobuf> {
        let fields = bytes.strip_prefix(&MAGIC).map(Fields::new);
        let mut envelope = Envelope { kind: "", api_version: "", object: &[] };
        for field in fields.ok_or_else(no_envelope)? {
            let field = field?;
            match field.number {
                unknown::TYPE_META => (envelope.api_version, envelope.kind) = type_meta(field.message()?)?,
                unknown::RAW => envelope.object = field.as_bytes()?,
                // API servers do not set it; an object with one, such as `gzip`, could not be decoded.
                unknown::CONTENT_ENCODING if !field.as_bytes()?.is_empty() => {
                    return Err(field.expected("an empty content encoding"));
                }
                _ => {}
            }
        }
        Ok(envelope)
    }

    /// Checks that the object is of this resource.
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::Kind`](crate::DecodeProblem::Kind) for another kind or API version.
    pub fn check(&self, resource: &Resource) -> Result<(), DecodeError> {
        DecodeError::check(resource.kind, resource, self.kind, self.api_version)
    }
}

/// Reads `apiVersion` and `kind` of a `runtime.TypeMeta`.
pub(crate) fn type_meta(fields: Fields<'_>) -> Result<(&str, &str), MalformedProtobuf> {
    let (mut api_version, mut kind) = ("", "");
    for field in fields {
        let field = field?;
        match field.number {
            type_meta::API_VERSION => api_version = field.utf8()?,
            type_meta::KIND => kind = field.utf8()?,
            _ => {}
        }
    }
    Ok((api_version, kind))
}

pub(crate) fn no_envelope() -> MalformedProtobuf {
    Problem::NoEnvelope.at(Path::default())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::bare(b"\x0a\x02v1", "the message: no Kubernetes envelope")]
    #[case::empty(b"", "the message: no Kubernetes envelope")]
    #[case::zipped(b"k8s\0\x1a\x04gzip", "field 3: expected an empty content encoding")]
    #[case::cut(b"k8s\0\x12\x04abc", "field 2: unexpected end of message")]
    fn malformed_envelope_is_an_error(#[case] bytes: &[u8], #[case] expect: &str) {
        assert_eq!(Envelope::open(bytes).unwrap_err().to_string(), expect);
    }
}
