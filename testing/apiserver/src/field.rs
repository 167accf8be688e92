//! Field errors, collected during the validation of an object and returned in one response.

use std::fmt::{self, Display, Write as _};

use serde::Serialize;
use serde_json::Value;

/// Field errors of one object, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors(Vec<Cause>);

/// A `StatusCause`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) field: String,
}

impl FieldErrors {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if upstream skips further rules of a custom resource, since a value has the wrong type or size.
    pub(crate) fn block_rules(&self) -> bool {
        let blocking = [
            "FieldValueNotSupported",
            "FieldValueRequired",
            "FieldValueTooLong",
            "FieldValueTooMany",
            "FieldValueTypeInvalid",
        ];
        self.0.iter().any(|cause| blocking.contains(&cause.reason))
    }

    /// Adds upstream's note that rules were not evaluated, since a value [blocks](Self::block_rules) them.
    pub(crate) fn rules_skipped(&mut self) {
        let note = "some validation rules were not checked because the object was invalid; correct the existing errors \
                    to complete validation";
        self.invalid("<nil>", &Value::Null, note);
    }

    /// Adds an invalid value that upstream does not show.
    pub(crate) fn invalid_without_value(&mut self, field: impl Into<String>, detail: impl Display) {
        self.push(field, "FieldValueInvalid", format!("Invalid value: {detail}"));
    }

    /// Adds an invalid value; `detail` is the reason.
    pub(crate) fn invalid(&mut self, field: impl Into<String>, value: impl Serialize, detail: impl Display) {
        self.push(field, "FieldValueInvalid", format!("Invalid value: {}: {detail}", show(&value)));
    }

    /// Adds a missing value.
    pub(crate) fn required(&mut self, field: impl Into<String>, detail: &str) {
        let message = if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        self.push(field, "FieldValueRequired", message);
    }

    /// Adds a value whose JSON type is not that of the schema.
    pub(crate) fn type_invalid(&mut self, field: &str, value: &Value, expected: &str) {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let detail = format!("{field} in body must be of type {expected}: {found:?}");
        self.push(field, "FieldValueTypeInvalid", format!("Invalid value: {found:?}: {detail}"));
    }

    /// Adds a value outside of an enumeration.
    pub(crate) fn unsupported(&mut self, field: impl Into<String>, value: impl Serialize, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(|it| format!("{it:?}")).collect();
        let message = format!("Unsupported value: {}: supported values: {}", show(&value), supported.join(", "));
        self.push(field, "FieldValueNotSupported", message);
    }

    /// Adds a duplicate of a value that must be unique.
    pub(crate) fn duplicate(&mut self, field: impl Into<String>, value: impl Serialize) {
        self.push(field, "FieldValueDuplicate", format!("Duplicate value: {}", show(&value)));
    }

    /// Adds a field that may not be set, or not to this value.
    pub(crate) fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.push(field, "FieldValueForbidden", format!("Forbidden: {detail}"));
    }

    /// Adds a list of `count` items that exceeds `max`.
    pub(crate) fn too_many(&mut self, field: impl Into<String>, count: usize, max: usize) {
        self.push(field, "FieldValueTooMany", format!("Too many: {count}: must have at most {max} items"));
    }

    /// Adds a string that exceeds `max` bytes.
    pub(crate) fn too_long(&mut self, field: impl Into<String>, max: usize) {
        self.push(field, "FieldValueTooLong", format!("Too long: may not be more than {max} bytes"));
    }

    fn push(&mut self, field: impl Into<String>, reason: &'static str, message: String) {
        self.0.push(Cause { field: field.into(), reason, message });
    }

    /// Returns the errors as the causes of a `metav1.Status`.
    pub(crate) fn causes(&self) -> &[Cause] {
        &self.0
    }
}

impl Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = self.0.len() > 1;
        if many {
            f.write_char('[')?;
        }
        for (i, error) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}: {}", error.field, error.message)?;
        }
        if many { f.write_char(']') } else { Ok(()) }
    }
}

/// Formats a value for a field error, as JSON.
fn show(value: &impl Serialize) -> String {
    // Strings, numbers and lists: encoding cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}
