//! Errors of the writes of a plan.

use std::collections::HashSet;

use display_full_error::DisplayFullErrorExt as _;
use kube_controller::FailureCause;
use kube_controller_client::Error;
use kube_endpoint_model::{ObjectKey, Text};

/// Failed writes of a plan.
#[derive(Debug, thiserror::Error)]
#[error("{}", join(.0))]
pub struct ApplyError(pub(crate) Vec<WriteError>);

impl ApplyError {
    /// Returns the failures: at most one for each address type, one for each slice of an unsupported type, and one
    /// [`WriteFailure::Misplaced`].
    pub fn failures(&self) -> &[WriteError] {
        &self.0
    }

    /// Returns what the writes failed because of, for
    /// [`ControllerBuilder::failure_cause`](kube_controller::ControllerBuilder::failure_cause).
    pub fn failure_cause(&self) -> FailureCause {
        let cause = |failure: &WriteError| match &failure.source {
            WriteFailure::Request(error) => error.into(),
            WriteFailure::Misplaced { .. } => FailureCause::Key,
        };
        self.0.iter().map(cause).max().unwrap_or_default()
    }
}

/// Failed write of a slice.
#[derive(Debug, thiserror::Error)]
#[error(
    "{failed} {slice}EndpointSlice for {owner} {service}",
    failed = failed_to(.verb, *.is_unsupported),
    slice = named(.slice.as_ref())
)]
#[non_exhaustive]
pub struct WriteError {
    /// Verb of the write: `create`, `update` or `delete`.
    pub verb: &'static str,
    /// Whether it was one of [`Plan::unsupported`](crate::Plan::unsupported), for which upstream has another message.
    pub is_unsupported: bool,
    /// Name of the slice; `None` for a create.
    pub slice: Option<String>,
    /// Kind of the owner of the slice.
    pub owner: Text,
    /// Key of the owner of the slice: for slices of Services, the Service.
    pub service: ObjectKey,
    /// Error of the request, or the reason why none was sent.
    pub source: WriteFailure,
}

impl WriteError {
    pub(crate) fn new(
        owner: &Text,
        service: &ObjectKey,
        verb: &'static str,
        slice: Option<String>,
        source: WriteFailure,
    ) -> Self {
        Self { verb, is_unsupported: false, slice, owner: owner.clone(), service: service.clone(), source }
    }
}

/// Cause of a failed write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFailure {
    /// The request failed, or the client did not send it.
    #[error(transparent)]
    Request(#[from] Error),
    /// Nothing was sent, because the API server changed the owner or managed-by label of slices created before.
    #[error(
        "not sent: the API server changed the {label} or managed-by label of {}, which an admission policy may cause; \
         correct the policy; these EndpointSlices are written again within an hour",
        .slices.join(", ")
    )]
    Misplaced {
        /// Owner label: `service-name` for slices of Services, otherwise its key.
        label: String,
        /// Names of these slices.
        slices: Vec<String>,
    },
}

fn failed_to(verb: &str, is_unsupported: bool) -> String {
    if is_unsupported { "error deleting".to_owned() } else { format!("failed to {verb}") }
}

fn named(slice: Option<&String>) -> String {
    slice.map(|name| format!("{name} ")).unwrap_or_default()
}

/// Joins the messages of errors and their sources as upstream does (RC-5): each message once, and several in brackets.
pub(crate) fn join<E: std::error::Error>(errors: &[E]) -> String {
    let mut seen = HashSet::new();
    let messages = errors.iter().map(E::to_string_full).filter(|message| seen.insert(message.clone()));
    let messages: Vec<String> = messages.collect();
    match &messages[..] {
        [one] => one.clone(),
        _ => format!("[{}]", messages.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Message(&'static str);

    // RC-5
    #[rstest]
    #[case::one(&["a"], "a")]
    #[case::equal(&["a", "a"], "a")]
    #[case::several(&["a", "b", "a"], "[a, b]")]
    fn messages_are_joined_as_upstream_does(#[case] messages: &[&'static str], #[case] expected: &str) {
        let errors: Vec<Message> = messages.iter().copied().map(Message).collect();
        assert_eq!(join(&errors), expected);
    }
}
