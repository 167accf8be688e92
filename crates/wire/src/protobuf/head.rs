//! Messages that arrive piece by piece.

use super::{Fields, MalformedProtobuf, Path, Problem, Value, varint};

/// The beginning of a field, before its content is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) number: u32,
    /// Bytes of tag and length.
    pub(crate) header: usize,
    /// Bytes of content.
    pub(crate) content: u64,
}

impl Head {
    /// The head of the field with which `bytes` begin; `None` if there are not enough of them to tell.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, MalformedProtobuf> {
        let mut rest = bytes;
        let tag = match varint(&mut rest) {
            Ok(tag) => tag,
            Err(Problem::Truncated) => return Ok(None),
            Err(problem) => return Err(problem.at(Path::default())),
        };
        if tag & 7 == 2 {
            let number = super::number(tag).map_err(|problem| problem.at(Path::default()))?;
            return match varint(&mut rest) {
                Ok(content) => Ok(Some(Self { number, header: bytes.len() - rest.len(), content })),
                Err(Problem::Truncated) => Ok(None),
                Err(problem) => Err(problem.of_field(number)),
            };
        }
        let mut fields = Fields::new(bytes);
        match fields.field() {
            Ok(field) => {
                debug_assert!(!matches!(field.value, Value::Bytes(_)), "answered above");
                Ok(Some(Self { number: field.number, header: bytes.len() - fields.rest.len(), content: 0 }))
            }
            Err(MalformedProtobuf { problem: Problem::Truncated, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
