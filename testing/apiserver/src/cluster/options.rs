//! Options of writes and deletes.

use jiff::Timestamp;

use super::FieldValidation;
use crate::field::FieldErrors;
use crate::kinds::Kind;
use crate::status::StatusError;

/// Maximum length of the name of a field manager (Go: `FieldManagerMaxLength`).
pub(crate) const MAX_MANAGER_LENGTH: usize = 128;

/// Options of a write.
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

/// Checks the name of the field manager of a create or an update; `options` is upstream's name of the options.
///
/// # Errors
/// 422 if it is invalid.
pub(crate) fn check_write(manager: &str, options: &'static str) -> Result<(), StatusError> {
    let mut errors = FieldErrors::default();
    check_manager(manager, &mut errors);
    StatusError::check_options(options, errors)
}

/// Reports a name of a field manager that has more than 128 bytes, or characters that cannot be printed.
pub(crate) fn check_manager(name: &str, errors: &mut FieldErrors) {
    if name.len() > MAX_MANAGER_LENGTH {
        errors.too_long("fieldManager", MAX_MANAGER_LENGTH);
    }
    for (position, character) in name.char_indices() {
        if character.is_control() || character.is_whitespace() && character != ' ' {
            let detail = format!("invalid character U+{:04X} (at position {position})", u32::from(character));
            errors.invalid("fieldManager", name, detail);
        }
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
    /// What happens to the dependents; no effect unless the server collects garbage.
    pub(crate) propagation: Propagation,
}

/// Propagation policy of a delete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// Dependents are deleted after the owner.
    #[default]
    Background,
    /// Dependents are deleted before the owner, which waits for those with `blockOwnerDeletion`.
    Foreground,
    /// Dependents stay, and lose the reference to the owner.
    Orphan,
}

impl Propagation {
    /// Returns the policy of a delete that names none.
    pub(crate) fn default_of(kind: &Kind) -> Self {
        if kind.orphans_dependents { Self::Orphan } else { Self::default() }
    }

    /// Returns the value of `propagationPolicy`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        }
    }
}
