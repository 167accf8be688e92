//! Field validation: what happens to fields of a body outside of the schema of its kind.

use serde_json::Value;

use super::target::complete_type;
use crate::kinds::Kind;
use crate::schema::unknown_fields;
use crate::status::StatusError;

/// Handling of fields outside of the schema of a kind, which are never stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

impl FieldValidation {
    /// Returns the messages as warnings; none if such fields are ignored. Fails with the error of `refuse` if there are
    /// messages and the validation is strict.
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

    /// Returns the object in the body of a create or an update, with its kind and apiVersion, and the warnings about
    /// it. Fails with 400 if it has another kind, and if there are messages and the validation is strict.
    pub(super) fn object(self, kind: &Kind, mut value: Value) -> Result<(Value, Vec<String>), StatusError> {
        complete_type(kind, &mut value)?;
        let messages = || unknown(kind, &value);
        let warnings = self.check(messages, |messages| StatusError::strict_decoding(kind, messages))?;
        Ok((value, warnings))
    }
}

/// Returns upstream's message for each field of `object` outside of the schema of its kind.
pub(super) fn unknown(kind: &Kind, object: &Value) -> Vec<String> {
    let unknown = kind.schema().map(|schema| unknown_fields(object, schema)).unwrap_or_default();
    unknown.into_iter().map(|path| format!("unknown field {path:?}")).collect()
}
