//! Errors as `metav1.Status`.

use serde_json::{Map, Value, json};

use crate::admission::Denial;
use crate::attributes::Attributes;
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
    /// `StatusDetails`: the object or resource that the error refers to.
    details: Option<Map<String, Value>>,
    /// Token with which the client can continue an expired list.
    continuation: Option<Box<str>>,
    /// Warnings for the client about the request that failed.
    pub(crate) warnings: Vec<String>,
    /// Whether authentication or authorization refused the request.
    pub(crate) denied: bool,
}

/// Returns the `StatusDetails` of an object or resource. Empty fields are left out.
fn details(group: &str, kind: &str, name: &str) -> Map<String, Value> {
    let fields = [("group", group), ("kind", kind), ("name", name)].into_iter().filter(|(_, text)| !text.is_empty());
    fields.map(|(field, text)| (field.to_owned(), json!(text))).collect()
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

    fn detailed(self, details: Map<String, Value>) -> Self {
        Self { details: Some(details), ..self }
    }

    fn about(self, kind: &Kind, name: &str) -> Self {
        self.detailed(details(&kind.group, &kind.plural, name))
    }

    /// Adds causes, none if there are none, to the details.
    fn caused_by(mut self, causes: &[Cause]) -> Self {
        let details = self.details.get_or_insert_default();
        if !causes.is_empty() {
            details.insert("causes".to_owned(), json!(causes));
        }
        self
    }

    fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().insert("retryAfterSeconds".to_owned(), json!(seconds));
        self
    }

    /// Returns an error with a message that begins with the object.
    fn of_object(code: u16, reason: &'static str, kind: &Kind, name: &str, what: &str) -> Self {
        Self::new(code, reason, format!("{} \"{name}\" {what}", kind.qualified_plural())).about(kind, name)
    }

    fn caused(self, reason: &'static str, message: impl Into<String>, field: &str) -> Self {
        self.caused_by(&[Cause { reason, message: message.into(), field: field.to_owned() }])
    }

    /// Returns 404 for an object that does not exist.
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::of_object(404, "NotFound", kind, name, "not found")
    }

    /// Returns 404 for a path of a built-in group that this server does not serve.
    pub(crate) fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource").detailed(Map::new())
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
        Self::new(405, "MethodNotAllowed", message).detailed(Map::new())
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
        let cause = |Conflict { manager, path }| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {manager}"),
            field: path,
        };
        Self::new(409, "Conflict", message).caused_by(&conflicts.into_iter().map(cause).collect::<Vec<_>>())
    }

    /// Returns 422 for an invalid object, with one cause per field error.
    pub(crate) fn invalid(kind: &Kind, name: &str, errors: &FieldErrors) -> Self {
        Self::unprocessable(&kind.qualified_kind(), details(&kind.group, &kind.name, name), errors)
    }

    fn unprocessable(kind: &str, details: Map<String, Value>, errors: &FieldErrors) -> Self {
        let name = details.get("name").and_then(Value::as_str).unwrap_or_default();
        let message = format!("{kind} \"{name}\" is invalid: {errors}");
        Self::new(422, "Invalid", message).detailed(details).caused_by(errors.causes())
    }

    /// Returns 422 if there are errors of request options, such as list parameters that exclude each other.
    pub(crate) fn check_options(options: &str, errors: &FieldErrors) -> Result<(), Self> {
        if errors.is_empty() {
            return Ok(());
        }
        Err(Self::unprocessable(&format!("{options}.meta.k8s.io"), details("meta.k8s.io", options, ""), errors))
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
        let error = Self::new(504, "Timeout", message).retry_after(1);
        error.caused("ResourceVersionTooLarge", "Too large resource version", "")
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
        Self::new(422, "Invalid", message).detailed(Map::new())
    }

    /// Returns 422 for a patch that adds unknown or duplicate fields with strict field validation.
    pub(crate) fn invalid_patch(patched: &str, messages: &[String]) -> Self {
        let mut errors = FieldErrors::default();
        errors.invalid("patch", patched, format_args!("strict decoding error: {}", messages.join(", ")));
        Self::unprocessable("", Map::new(), &errors)
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

    /// Returns 401 `Unauthorized`.
    pub(crate) fn unauthorized() -> Self {
        Self { denied: true, ..Self::new(401, "Unauthorized", "Unauthorized") }
    }

    /// Returns 403 for a request that the user is not authorized to make.
    pub(crate) fn not_authorized(user: &str, attributes: &Attributes, why: &str) -> Self {
        let Attributes { verb, group, resource, namespace, name, path, .. } = attributes;
        let (subject, mut what) = if attributes.is_resource() {
            let scope = if namespace.is_empty() {
                "at the cluster scope".to_owned()
            } else {
                format!("in the namespace \"{namespace}\"")
            };
            let qualified = if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") };
            let subject = if name.is_empty() { qualified } else { format!("{qualified} \"{name}\"") };
            let resource = attributes.full_resource();
            (
                format!("{subject} is forbidden"),
                format!("User \"{user}\" cannot {verb} resource \"{resource}\" in API group \"{group}\" {scope}"),
            )
        } else {
            ("forbidden".to_owned(), format!("User \"{user}\" cannot {verb} path \"{path}\""))
        };
        if !why.is_empty() {
            what = format!("{what}: {why}");
        }
        let error = Self::new(403, "Forbidden", format!("{subject}: {what}"));
        Self { denied: true, ..error.detailed(details(group, resource, name)) }
    }

    /// Returns 410 without naming a version.
    pub(crate) fn expired_by_fault() -> Self {
        Self::new(410, "Expired", "The resourceVersion for the provided watch is too old.")
    }

    /// Returns 504 for a request that timed out; it may have been applied.
    pub(crate) fn timed_out() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        Self::new(504, "Timeout", message).detailed(Map::new())
    }

    /// Returns the error of a fault, with upstream's message for the code where there is one.
    pub(crate) fn by_fault(code: u16, retry_after: Option<u32>) -> Self {
        let error = match code {
            404 => Self::new(404, "NotFound", "the object was not found, by a fault"),
            410 => Self::expired_by_fault(),
            429 => Self::new(429, "TooManyRequests", "Too many requests, please try again later."),
            500 => Self::internal("error injected by a fault"),
            503 => Self::new(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => Self::timed_out(),
            _ => Self::new(code, "Unknown", "error injected by a fault"),
        };
        match retry_after {
            Some(seconds) => error.retry_after(seconds),
            None => error,
        }
    }

    /// Encodes the JSON body.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let metadata = self.continuation.as_ref().map_or_else(|| json!({}), |token| json!({"continue": token}));
        encode([
            ("metadata", metadata),
            ("status", json!("Failure")),
            ("message", json!(self.message)),
            ("reason", json!(self.reason)),
            ("details", json!(self.details)),
            ("code", json!(self.code)),
        ])
    }
}

/// Returns the body of a successful delete that does not return the object.
pub(crate) fn deleted(kind: &Kind, name: &str, uid: &str) -> Vec<u8> {
    let mut details = details(&kind.group, &kind.plural, name);
    details.insert("uid".to_owned(), json!(uid));
    encode([("metadata", json!({})), ("status", json!("Success")), ("details", json!(details))])
}

/// Encodes a `Status` without empty fields, in the order of Go's encoding.
fn encode<const N: usize>(fields: [(&str, Value); N]) -> Vec<u8> {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null() && *value != "");
    let start = r#"{"kind":"Status","apiVersion":"v1""#.to_owned();
    let body = given.fold(start, |body, (field, value)| format!("{body},\"{field}\":{value}"));
    (body + "}").into_bytes()
}
