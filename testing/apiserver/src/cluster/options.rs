//! Options of writes and deletes.

use jiff::Timestamp;

use super::FieldValidation;
use crate::status::StatusError;

/// Maximum length of the name of a field manager (Go: `FieldManagerMaxLength`).
pub(crate) const MAX_MANAGER_LENGTH: usize = 128;

#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteOptions<'a> {
    pub(crate) now: Timestamp,
    /// Return the result, but store nothing.
    pub(crate) dry_run: bool,
    pub(crate) field_validation: FieldValidation,
    /// Whether admission rules apply; `true` for writes of clients, `false` for those of the server itself.
    pub(crate) admission: bool,
    /// Manager of the fields that are written; `None` for writes of the server itself, which own nothing.
    pub(crate) manager: Option<&'a str>,
    /// Error of an update or an apply that would create the object, if the client may not create it.
    pub(crate) refused_create: Option<&'a StatusError>,
}

impl<'a> WriteOptions<'a> {
    /// Returns the options of a write by the server itself.
    pub(crate) fn at(now: Timestamp) -> Self {
        Self {
            now,
            dry_run: false,
            field_validation: FieldValidation::Ignore,
            admission: false,
            manager: None,
            refused_create: None,
        }
    }

    /// Returns the options of the same write by a client: admission rules apply, and `manager` owns the fields.
    pub(crate) fn of_client(self, manager: &'a str, field_validation: FieldValidation) -> Self {
        Self { field_validation, admission: true, manager: Some(manager), ..self }
    }
}

/// Options of a delete, from its body and parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) grace_period_seconds: Option<i64>,
    /// Precondition: uid of the object.
    pub(crate) uid: Option<String>,
    /// Precondition: resource version of the object.
    pub(crate) resource_version: Option<String>,
    /// Whether the object is deleted after its dependents, if garbage is collected.
    pub(crate) foreground: bool,
}
