//! Field headers of messages that arrive in chunks.

use super::{Fields, MalformedProtobuf, Path, Problem, Value, varint};

/// Header of a field whose content may not have arrived yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldHeader {
    pub(crate) number: u32,
    /// Length of the header: tag and length prefix, and the value itself for all wire types but 2.
    pub(crate) header_len: usize,
    /// Length of the content after the header; 0 for all wire types but 2.
    pub(crate) content_len: u64,
}

impl FieldHeader {
    /// Reads the header of the field at the beginning of `bytes`; `None` if the header is incomplete.
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
                Ok(content_len) => Ok(Some(Self { number, header_len: bytes.len() - rest.len(), content_len })),
                Err(Problem::Truncated) => Ok(None),
                Err(problem) => Err(problem.of_field(number)),
            };
        }
        let mut fields = Fields::new(bytes);
        match fields.field() {
            Ok(field) => {
                debug_assert!(!matches!(field.value, Value::Bytes(_)), "wire type 2 is handled above");
                Ok(Some(Self { number: field.number, header_len: bytes.len() - fields.rest.len(), content_len: 0 }))
            }
            Err(MalformedProtobuf { problem: Problem::Truncated, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
