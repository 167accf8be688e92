//! Errors as `metav1.Status`.

mod access;
mod faults;

use serde::Serialize;

use crate::admission::Denial;
use crate::field::{Cause, FieldErrors};
use crate::fields::Conflict;
use crate::kinds::Kind;

/// An error response, with the fields of its `metav1.Status` body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct StatusError {
    /// HTTP status code, also part of the body.
    pub(crate) code: u16,
    /// Machine-readable reason.
    pub(crate) reason: &'static str,
    message: String,
    details: Option<Box<Details>>,
    /// Token with which the client can continue an expired list.
    continuation: Option<Box<str>>,
    /// Warnings for the client about the request that failed.
    pub(crate) warnings: Vec<String>,
    /// Whether authentication or authorization refused the request.
    pub(crate) denied: bool,
}

/// `StatusDetails`: the object or resource that a status refers to.
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

impl Details {
    fn about(kind: &Kind, name: &str) -> Self {
        Self { name: name.to_owned(), group: kind.group.clone(), kind: kind.plural.clone(), ..Self::default() }
    }
}

/// JSON body; fields are in the order of Go's encoding.
#[derive(Default, Serialize)]
#[serde(tag = "kind", rename = "Status", rename_all = "camelCase")]
struct StatusBody<'a> {
    api_version: &'static str,
    metadata: StatusListMeta<'a>,
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

#[derive(Default, Serialize)]
struct StatusListMeta<'a> {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    continuation: Option<&'a str>,
}

impl StatusBody<'_> {
    fn encode(&self) -> Vec<u8> {
        // Strings and numbers: encoding cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl StatusError {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let (details, continuation, warnings) = (None, None, Vec::new());
        Self { code, reason, message: message.into(), details, continuation, warnings, denied: false }
    }

    pub(crate) fn warned(mut self, warnings: &[String]) -> Self {
        self.warnings.extend_from_slice(warnings);
        self
    }

    fn detailed(self, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }

    fn about(self, kind: &Kind, name: &str) -> Self {
        self.detailed(Details::about(kind, name))
    }

    /// Returns an error with a message that begins with the object.
    fn of_object(code: u16, reason: &'static str, kind: &Kind, name: &str, what: &str) -> Self {
        Self::new(code, reason, format!("{} \"{name}\" {what}", kind.qualified_plural())).about(kind, name)
    }

    fn caused(mut self, reason: &'static str, message: impl Into<String>, field: &str) -> Self {
        let cause = Cause { reason, message: message.into(), field: field.to_owned() };
        self.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// Returns 404 for an object that does not exist.
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::of_object(404, "NotFound", kind, name, "not found")
    }

    /// Returns 404 for a path of a built-in group that this server does not serve.
    pub(crate) fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource").detailed(Details::default())
    }

    /// Returns 404 for any other path that this server does not serve. As upstream, the response is plain text.
    pub(crate) fn no_such_path() -> Self {
        Self::new(404, "", "404 page not found")
    }

    /// Returns `true` for [`no_such_path`](Self::no_such_path).
    pub(crate) fn is_plain_text(&self) -> bool {
        self.code == 404 && self.reason.is_empty()
    }

    /// Returns 405 for a method that the path does not support.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).detailed(Details::default())
    }

    /// Returns 501 for a subresource that needs a kubelet.
    pub(crate) fn no_containers(kind: &Kind, subresource: &str) -> Self {
        let plural = kind.qualified_plural();
        let message = format!("{plural}/{subresource} is not available: this API server for tests runs no containers");
        Self::new(501, "NotImplemented", message).about(kind, "")
    }

    /// Returns 409 for a create of an object that exists.
    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        Self::of_object(409, "AlreadyExists", kind, name, "already exists")
    }

    /// Returns 409 for a generated name that exists; the create can be retried.
    pub(crate) fn generated_name_taken(kind: &Kind, name: &str) -> Self {
        let what = "already exists, the server was not able to generate a unique name for the object";
        Self::of_object(409, "AlreadyExists", kind, name, what)
    }

    /// Returns 409 for a write that conflicts with the stored object.
    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.qualified_plural());
        Self::new(409, "Conflict", message).about(kind, name)
    }

    /// Returns 409 for a stale resourceVersion.
    pub(crate) fn stale(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// Returns 409 for an apply that changes fields of other managers, with one cause per field.
    pub(crate) fn apply_conflict(conflicts: Vec<Conflict>) -> Self {
        let message = match conflicts.as_slice() {
            [Conflict { manager, path }] => format!("Apply failed with 1 conflict: conflict with {manager}: {path}"),
            conflicts => {
                let by_manager = conflicts.chunk_by(|a, b| a.manager == b.manager).map(|conflicts| {
                    let paths: Vec<String> =
                        conflicts.iter().map(|conflict| format!("\n- {}", conflict.path)).collect();
                    format!("conflicts with {}:{}", conflicts[0].manager, paths.concat())
                });
                let by_manager: Vec<String> = by_manager.collect();
                format!("Apply failed with {} conflicts: {}", conflicts.len(), by_manager.join("\n"))
            }
        };
        let causes = conflicts.into_iter().map(|Conflict { manager, path }| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {manager}"),
            field: path,
        });
        Self::new(409, "Conflict", message).detailed(Details { causes: causes.collect(), ..Details::default() })
    }

    /// Returns 422 for an invalid object, with one cause per field error.
    pub(crate) fn invalid(kind: &Kind, name: &str, errors: FieldErrors) -> Self {
        let listed = errors.to_string();
        let message = format!("{} \"{name}\" is invalid: {listed}", kind.qualified_kind());
        let (name, group, kind) = (name.to_owned(), kind.group.clone(), kind.name.clone());
        let details = Details { name, group, kind, causes: errors.into_causes(), ..Details::default() };
        Self::new(422, "Invalid", message).detailed(details)
    }

    /// Returns 422 if there are errors of request options, such as list parameters that exclude each other.
    pub(crate) fn check_options(options: &'static str, errors: FieldErrors) -> Result<(), Self> {
        if errors.is_empty() {
            return Ok(());
        }
        let message = format!("{options}.meta.k8s.io \"\" is invalid: {errors}");
        let (group, kind) = ("meta.k8s.io".to_owned(), options.to_owned());
        let details = Details { group, kind, causes: errors.into_causes(), ..Details::default() };
        Err(Self::new(422, "Invalid", message).detailed(details))
    }

    /// Returns 400 for a malformed request.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// Returns 400 for an object whose namespace is not that of the path.
    pub(crate) fn other_namespace() -> Self {
        Self::bad_request("the namespace of the provided object does not match the namespace sent on the request")
    }

    /// Returns 400 for an object whose name is not that of the path.
    pub(crate) fn other_name(given: &str, expected: &str) -> Self {
        Self::bad_request(format!("the name of the object ({given}) does not match the name on the URL ({expected})"))
    }

    /// Returns 400 for an object that cannot be decoded.
    pub(crate) fn undecodable(kind: &Kind, why: &str) -> Self {
        let Kind { name, version, .. } = kind;
        Self::bad_request(format!("{name} in version \"{version}\" cannot be handled as a {name}: {why}"))
    }

    /// Returns 400 for unknown fields with strict field validation.
    pub(crate) fn strict_decoding(kind: &Kind, messages: &[String]) -> Self {
        Self::undecodable(kind, &format!("strict decoding error: {}", messages.join(", ")))
    }

    /// Returns 403 for a request that is forbidden for this object.
    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        Self::of_object(403, "Forbidden", kind, name, &format!("is forbidden: {why}"))
    }

    /// Returns 403 for a create in a terminating namespace.
    pub(crate) fn namespace_terminating(kind: &Kind, name: &str, namespace: &str) -> Self {
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        Self::forbidden(kind, name, &why).caused(
            "NamespaceTerminating",
            format!("namespace {namespace} is being terminated"),
            "metadata.namespace",
        )
    }

    /// Returns the error of a write that an admission rule denies.
    pub(crate) fn denied(kind: &Kind, name: &str, denial: Denial) -> Self {
        let Denial { code, reason, message } = denial;
        Self::of_object(code, reason, kind, name, &format!("is forbidden: {message}"))
    }

    /// Returns 410 for a watch from a version older than the history.
    pub(crate) fn expired(requested: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {requested} ({oldest})"))
    }

    /// Returns 410 for a list at a version older than the history.
    pub(crate) fn expired_list() -> Self {
        Self::new(410, "Expired", "The resourceVersion for the provided list is too old.")
    }

    /// Returns 410 for the next page of a list whose version is older than the history, with a new token.
    pub(crate) fn expired_continue(continuation: &str) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                       a new list without the continue parameter, or use the continue token in this response to \
                       retrieve the remainder of the results. Continuing with the provided token results in an \
                       inconsistent list - objects that were created, modified, or deleted between the time the first \
                       chunk was returned and now may show up in the list.";
        let continuation = Some(continuation.into());
        Self { continuation, ..Self::new(410, "Expired", message) }
    }

    /// Returns 504 for a version that this server has not reached.
    pub(crate) fn too_large_version(requested: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {requested}, current: {current}");
        let mut error =
            Self::new(504, "Timeout", message).caused("ResourceVersionTooLarge", "Too large resource version", "");
        error.details.get_or_insert_default().retry_after_seconds = Some(1);
        error
    }

    /// Returns 413 for a body of more than `limit` bytes.
    pub(crate) fn too_large_body(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit}"))
    }

    /// Returns 406 if no accepted media type is supported.
    pub(crate) fn not_acceptable(supported: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", supported.join(", "));
        Self::new(406, "NotAcceptable", message)
    }

    /// Returns 415 for a body or patch with an unsupported media type.
    pub(crate) fn unsupported_media_type(supported: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            supported.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// Returns 422 for a JSON patch that cannot be applied to the stored object. As upstream, it does not say why.
    pub(crate) fn patch_failed() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, "Invalid", message).detailed(Details::default())
    }

    /// Returns 422 for a patch that adds unknown or duplicate fields with strict field validation.
    pub(crate) fn invalid_patch(patched: &str, messages: &[String]) -> Self {
        let mut errors = FieldErrors::default();
        errors.invalid("patch", patched, format_args!("strict decoding error: {}", messages.join(", ")));
        let error = Self::new(422, "Invalid", format!(" \"\" is invalid: {errors}"));
        error.detailed(Details { causes: errors.into_causes(), ..Details::default() })
    }

    /// Returns 500 with upstream's generic message.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::new(500, "InternalError", format!("Internal error occurred: {message}")).caused("", message, "")
    }

    /// Returns 500 without a reason, as upstream for plain Go errors.
    pub(crate) fn untyped(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// Encodes the JSON body.
    pub(crate) fn encode(&self) -> Vec<u8> {
        StatusBody {
            api_version: "v1",
            metadata: StatusListMeta { continuation: self.continuation.as_deref() },
            status: "Failure",
            message: &self.message,
            reason: self.reason,
            details: self.details.as_deref(),
            code: Some(self.code),
        }
        .encode()
    }
}

/// Returns the body of a successful delete that does not return the object.
pub(crate) fn deleted(kind: &Kind, name: &str, uid: &str) -> Vec<u8> {
    let details = Details { uid: uid.to_owned(), ..Details::about(kind, name) };
    let details = Some(&details);
    StatusBody { api_version: "v1", status: "Success", details, ..StatusBody::default() }.encode()
}
