//! The object that a write addresses, and the checks that a body is of that object.

use serde_json::Value;

use super::Stored;
use crate::field::FieldErrors;
use crate::kinds::{Kind, Part, requested_replicas};
use crate::status::StatusError;

/// Object, or part of it, that a write addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteTarget<'a> {
    pub(crate) kind: &'a Kind,
    /// Empty for cluster-scoped kinds.
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) part: Part,
}

impl<'a> WriteTarget<'a> {
    /// Returns the target of a write of the object itself.
    pub(crate) fn object(kind: &'a Kind, namespace: &'a str, name: &'a str) -> Self {
        Self { kind, namespace, name, part: Part::Main }
    }

    /// Returns the kind of the object in a request.
    pub(super) fn body_kind(self) -> &'a Kind {
        self.kind.of_part(self.part)
    }

    /// Checks that namespace and name of an object are those of the target. Fails with 400 if they are not.
    pub(super) fn check_identity(self, body: &Value) -> Result<(), StatusError> {
        self.check_namespace(metadata_text(body, "namespace"))?;
        self.check_name(metadata_text(body, "name"))
    }

    pub(super) fn check_namespace(self, given: &str) -> Result<(), StatusError> {
        let is_other = self.kind.namespaced && !given.is_empty() && given != self.namespace;
        if is_other { Err(StatusError::other_namespace()) } else { Ok(()) }
    }

    pub(super) fn check_name(self, given: &str) -> Result<(), StatusError> {
        if given == self.name { Ok(()) } else { Err(StatusError::other_name(given, self.name)) }
    }

    /// Fails with 409 if an object has another uid than the stored one; `found` is empty if nothing is stored.
    pub(super) fn check_uid(self, body: &Value, found: &str) -> Result<(), StatusError> {
        let given = metadata_text(body, "uid");
        if given.is_empty() || given == found {
            return Ok(());
        }
        let why = format!("Precondition failed: UID in precondition: {given}, UID in object meta: {found}");
        Err(StatusError::conflict(self.kind, self.name, &why))
    }

    /// Checks that an object has the resource version of the stored one, or none if its kind allows that. Fails with
    /// 409 for another version, 422 for a missing or malformed one.
    pub(super) fn check_version(self, body: &Value, stored: &Stored) -> Result<(), StatusError> {
        let given = metadata_text(body, "resourceVersion");
        let mut errors = FieldErrors::default();
        match given {
            "" | "0" if self.kind.unconditional_update => return Ok(()),
            "" | "0" => errors.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
            given => match given.parse::<u64>() {
                Ok(given) if given == stored.revision => return Ok(()),
                Ok(_) => return Err(StatusError::stale(self.kind, self.name)),
                Err(_) => errors.invalid("metadata.resourceVersion", given, "must be an unsigned integer"),
            },
        }
        Err(StatusError::invalid(self.kind, self.name, &errors))
    }

    /// Returns a stored object with the replicas of a Scale, whose uid and version are preconditions.
    pub(super) fn scaled(self, scale: &Value, mut object: Value) -> Result<Value, StatusError> {
        self.kind.set_replicas(&mut object, requested_replicas(scale)?);
        for field in ["uid", "resourceVersion"] {
            let given = metadata_text(scale, field);
            if !given.is_empty() {
                object["metadata"][field] = given.into();
            }
        }
        Ok(object)
    }

    /// Returns 404: the object, or the subresource of an object without it, cannot be created by this write.
    pub(super) fn not_found(self) -> StatusError {
        StatusError::not_found(self.kind, self.name)
    }
}

/// Returns a string field of the metadata; empty if it is absent.
pub(super) fn metadata_text<'a>(body: &'a Value, field: &str) -> &'a str {
    body.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str).unwrap_or_default()
}

/// Sets kind and apiVersion if absent, and rejects those of another kind with 400.
pub(super) fn complete_type(kind: &Kind, body: &mut Value) -> Result<(), StatusError> {
    let Value::Object(object) = body else {
        return Err(StatusError::undecodable(kind, "the body is not a JSON object"));
    };
    let expected = kind.api_version();
    let mut other = |field: &str, expected: &str| {
        let found = object.get(field).and_then(Value::as_str).unwrap_or_default();
        if !found.is_empty() {
            return (found != expected).then(|| found.to_owned());
        }
        object.insert(field.to_owned(), Value::String(expected.to_owned()));
        None
    };
    if let Some(found) = other("apiVersion", &expected) {
        return Err(StatusError::bad_request(format!(
            "the API version in the data ({found}) does not match the expected API version ({expected})"
        )));
    }
    if let Some(found) = other("kind", &kind.name) {
        return Err(StatusError::bad_request(format!(
            "{found} in version \"{}\" cannot be handled as a {}: the resource of the path is {}",
            kind.version, kind.name, kind.plural
        )));
    }
    Ok(())
}
