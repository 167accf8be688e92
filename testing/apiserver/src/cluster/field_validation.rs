//! Field validation: what happens to duplicate fields of a body, and to fields outside of the schema of its kind.

use serde_json::Value;

use super::target::complete_type;
use crate::document::Document;
use crate::kinds::Kind;
use crate::schema::unknown_fields;
use crate::status::StatusError;

/// Handling of duplicate fields, of which the last is used, and of fields outside of the schema of a kind, which are never
/// stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

impl FieldValidation {
    /// Returns the messages as warnings; none if such fields are ignored.
    ///
    /// # Errors
    /// That of `refuse` if there are messages and the validation is strict.
    pub(super) fn check(
        self,
        messages: impl FnOnce() -> Vec<String>,
        refuse: impl FnOnce(&[String]) -> StatusError,
    ) -> Result<Vec<String>, StatusError> {
        if self == Self::Ignore {
            return Ok(Vec::new());
        }
        let messages = messages();
        if self == Self::Strict && !messages.is_empty() { Err(refuse(&messages)) } else { Ok(messages) }
    }

    /// Returns the object in the body of a create or an update, with its kind and apiVersion, and the warnings about it.
    ///
    /// # Errors
    /// 400 if it has another kind, and if there are messages and the validation is strict.
    pub(super) fn object(self, kind: &Kind, document: Document) -> Result<(Value, Vec<String>), StatusError> {
        let duplicates = document.messages();
        let mut value = document.value;
        complete_type(kind, &mut value)?;
        let messages = || with_unknown(duplicates, kind, &value);
        let warnings = self.check(messages, |messages| StatusError::strict_decoding(kind, messages))?;
        Ok((value, warnings))
    }
}

/// Adds upstream's message for each field of `object` outside of the schema of its kind.
pub(super) fn with_unknown(mut messages: Vec<String>, kind: &Kind, object: &Value) -> Vec<String> {
    let unknown = kind.schema().map(|schema| unknown_fields(object, schema)).unwrap_or_default();
    messages.extend(unknown.into_iter().map(|path| format!("unknown field {path:?}")));
    messages
}
