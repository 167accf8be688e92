//! `metav1.Status`: how the server says no.

mod access;
mod faults;

use serde::Serialize;
use serde_json::Value;

use crate::admission::Denial;
use crate::cluster::Patch;
use crate::field::FieldErrors;
use crate::kinds::Kind;

/// A refusal, with everything its `metav1.Status` body says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct StatusError {
    /// The HTTP status code, repeated in the body.
    pub(crate) code: u16,
    /// The machine-readable reason; clients decide by it.
    pub(crate) reason: &'static str,
    message: String,
    details: Option<Box<Details>>,
    /// Where a client can go on in spite of the refusal.
    continuation: Option<Box<str>>,
}

/// What a status is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u32>,
}

/// One of the reasons behind a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) field: String,
}

/// The wire form; the order of its fields is the order a real server writes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: ListMeta<'a>,
    status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Details>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
}

#[derive(Serialize)]
struct ListMeta<'a> {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    continuation: Option<&'a str>,
}

impl Body<'_> {
    fn encode(&self) -> Vec<u8> {
        // Strings and numbers only: there is nothing in it that could fail to encode.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl StatusError {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None, continuation: None }
    }

    fn about(mut self, kind: &Kind, name: &str) -> Self {
        self.details = Some(Box::new(Details {
            name: name.to_owned(),
            group: kind.group.clone(),
            kind: kind.plural.clone(),
            ..Details::default()
        }));
        self
    }

    fn caused(mut self, reason: &'static str, message: impl Into<String>, field: &str) -> Self {
        let cause = Cause { reason, message: message.into(), field: field.to_owned() };
        self.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// 404 for an object.
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", kind.qualified_plural())).about(kind, name)
    }

    /// 404 for a path that names no resource of this server.
    pub(crate) fn no_such_path() -> Self {
        let mut error = Self::new(404, "NotFound", "the server could not find the requested resource");
        error.details = Some(Box::default());
        error
    }

    /// 405 for a verb the path does not have.
    pub(crate) fn method_not_allowed() -> Self {
        let mut error =
            Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
        error.details = Some(Box::default());
        error
    }

    /// 409 for a name that is taken.
    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} \"{name}\" already exists", kind.qualified_plural()))
            .about(kind, name)
    }

    /// 409 for a generated name that is taken, which asks the client to try again.
    pub(crate) fn generated_name_taken(kind: &Kind, name: &str) -> Self {
        let message = format!(
            "{} \"{name}\" already exists, the server was not able to generate a unique name for the object",
            kind.qualified_plural()
        );
        Self::new(409, "AlreadyExists", message).about(kind, name)
    }

    /// 409 for a write that was decided on something else than what is stored.
    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.qualified_plural());
        Self::new(409, "Conflict", message).about(kind, name)
    }

    /// 409 for a stale resourceVersion, in upstream's words.
    pub(crate) fn stale(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// 422 with one cause for each field that is wrong.
    pub(crate) fn invalid(kind: &Kind, name: &str, errors: FieldErrors) -> Self {
        let listed = errors.to_string();
        let mut error = Self::new(422, "Invalid", format!("{} \"{name}\" is invalid: {listed}", kind.qualified_kind()));
        error.details = Some(Box::new(Details {
            name: name.to_owned(),
            group: kind.group.clone(),
            kind: kind.name.clone(),
            causes: errors.into_causes(),
            ..Details::default()
        }));
        error
    }

    /// 422 for request options (list and watch parameters) that do not go together.
    pub(crate) fn invalid_options(options: &'static str, errors: FieldErrors) -> Self {
        let mut error = Self::new(422, "Invalid", format!("{options}.meta.k8s.io \"\" is invalid: {errors}"));
        error.details = Some(Box::new(Details {
            group: "meta.k8s.io".to_owned(),
            kind: options.to_owned(),
            causes: errors.into_causes(),
            ..Details::default()
        }));
        error
    }

    /// 400 for a request that cannot be understood.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 400 for a body that is not written as strictly as the client asks.
    pub(crate) fn strict_decoding(kind: &Kind, complaints: &[String]) -> Self {
        let Kind { name, version, .. } = kind;
        let complaints = complaints.join(", ");
        Self::bad_request(format!(
            "{name} in version \"{version}\" cannot be handled as a {name}: strict decoding error: {complaints}"
        ))
    }

    /// 403 for something that the rules of the object forbid.
    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {why}", kind.qualified_plural());
        Self::new(403, "Forbidden", message).about(kind, name)
    }

    /// 403 for a create in a namespace that is on its way out.
    pub(crate) fn namespace_terminating(kind: &Kind, name: &str, namespace: &str) -> Self {
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        Self::forbidden(kind, name, &why).caused(
            "NamespaceTerminating",
            format!("namespace {namespace} is being terminated"),
            "metadata.namespace",
        )
    }

    /// What an admission rule refuses a write with.
    pub(crate) fn denied(kind: &Kind, name: &str, denial: Denial) -> Self {
        let Denial { code, reason, message } = denial;
        let message = format!("{} \"{name}\" is forbidden: {message}", kind.qualified_plural());
        Self::new(code, reason, message).about(kind, name)
    }

    /// 410 for a resourceVersion that the history no longer reaches.
    pub(crate) fn expired(asked: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {asked} ({oldest})"))
    }

    /// 410 for a list at a version that the history no longer reaches.
    pub(crate) fn expired_list() -> Self {
        Self::new(410, "Expired", "The resourceVersion for the provided list is too old.")
    }

    /// 410 for the next page of a list whose version is gone, with a token that goes on with what is there now.
    pub(crate) fn expired_continue(continuation: &str) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                       a new list without the continue parameter, or use the continue token in this response to \
                       retrieve the remainder of the results. Continuing with the provided token results in an \
                       inconsistent list - objects that were created, modified, or deleted between the time the first \
                       chunk was returned and now may show up in the list.";
        let continuation = Some(continuation.into());
        Self { continuation, ..Self::new(410, "Expired", message) }
    }

    /// 504 for a resourceVersion that this server has not reached.
    pub(crate) fn too_large_version(asked: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut error =
            Self::new(504, "Timeout", message).caused("ResourceVersionTooLarge", "Too large resource version", "");
        error.details.get_or_insert_default().retry_after_seconds = Some(1);
        error
    }

    /// 413 for a body over the limit.
    pub(crate) fn too_large_body(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit}"))
    }

    /// 406 for an answer that this server cannot give.
    pub(crate) fn not_acceptable(supported: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", supported.join(", "));
        Self::new(406, "NotAcceptable", message)
    }

    /// 415 for a body or patch type that this server does not read.
    pub(crate) fn unsupported_media_type(found: &str, supported: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format ({found}) - accepted media types include: {}",
            supported.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 415 for a strategic merge patch of a kind whose lists have no keys that the server knows.
    pub(crate) fn no_strategic_merge(kind: &Kind) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types for {} include: {}",
            kind.qualified_plural(),
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 422 for a patch that does not apply to the stored object.
    pub(crate) fn patch_failed(message: impl Into<String>) -> Self {
        Self::new(422, "Invalid", message)
    }

    /// What is said of a patch that has keys twice, when the client asks to be strict.
    pub(crate) fn duplicates_in_patch(patch: &Patch, patched: Option<&Value>, complaints: &[String]) -> Self {
        match (patch, patched) {
            (Patch::Apply(_), _) | (_, None) => {
                Self::bad_request(format!("error strict decoding YAML: {}", complaints.join(", ")))
            }
            (_, Some(patched)) => Self::invalid_patch(&patched.to_string(), complaints),
        }
    }

    /// 422 for a patch that brings in fields that the kind does not have.
    pub(crate) fn invalid_patch(patched: &str, unknown: &[String]) -> Self {
        let mut errors = FieldErrors::default();
        errors.invalid("patch", patched, format_args!("strict decoding error: {}", unknown.join(", ")));
        let mut error = Self::new(422, "Invalid", format!(" \"\" is invalid: {errors}"));
        error.details = Some(Box::new(Details { causes: errors.into_causes(), ..Details::default() }));
        error
    }

    /// 500 in upstream's generic form.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::new(500, "InternalError", format!("Internal error occurred: {message}")).caused("", message, "")
    }

    /// 500 for a create that names a resourceVersion.
    pub(crate) fn version_on_create() -> Self {
        Self::new(500, "", "resourceVersion should not be set on objects to be created")
    }

    /// 500 for what upstream has no reason for.
    pub(crate) fn untyped(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// The JSON body.
    pub(crate) fn encode(&self) -> Vec<u8> {
        Body {
            kind: "Status",
            api_version: "v1",
            metadata: ListMeta { continuation: self.continuation.as_deref() },
            status: "Failure",
            message: &self.message,
            reason: self.reason,
            details: self.details.as_deref(),
            code: Some(self.code),
        }
        .encode()
    }
}

/// The body of a successful delete that does not answer with the object.
pub(crate) fn deleted(kind: &Kind, name: &str, uid: &str) -> Vec<u8> {
    let details = Details {
        name: name.to_owned(),
        group: kind.group.clone(),
        kind: kind.plural.clone(),
        uid: uid.to_owned(),
        ..Details::default()
    };
    Body {
        kind: "Status",
        api_version: "v1",
        metadata: ListMeta { continuation: None },
        status: "Success",
        message: "",
        reason: "",
        details: Some(&details),
        code: None,
    }
    .encode()
}
