//! Sends the writes of a plan to the API server.

use display_full_error::DisplayFullErrorExt as _;
use kube_controller::FailureCause;
use kube_controller_client::{Client, Deleted, Error, Preconditions};
use kube_endpoint_model::{EndpointSlice, ObjectKey, ObjectMeta, Text};

use crate::altered::AlteredWrites;
use crate::metrics::{HintLabels, Operation, SliceMetrics};
use crate::plan::{Plan, TypePlan};
use crate::slice_cache::{SliceCache, SliceWrite};
use crate::slice_names::{SliceName, SliceNames};

/// Maximum number of names tried for one slice if slices with these names exist already, as in the API server.
const NAMES_TO_TRY: usize = 8;

/// Failed writes of a plan.
#[derive(Debug, thiserror::Error)]
#[error("{}", join(.0))]
pub struct ApplyError(Vec<WriteError>);

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
            WriteFailure::Request(error) if error.is_unreachable() => FailureCause::Unreachable,
            WriteFailure::Request(error) if error.is_server_failure() => FailureCause::Server,
            WriteFailure::Request(_) | WriteFailure::Misplaced { .. } => FailureCause::Key,
        };
        self.0.iter().map(cause).max().unwrap_or_default()
    }
}

/// Failed write of a slice.
#[derive(Debug, thiserror::Error)]
#[error("failed to {} {slice}EndpointSlice for {owner} {service}", .operation.as_str(), slice = named(.slice.as_ref()))]
#[non_exhaustive]
pub struct WriteError {
    /// Operation that failed.
    pub operation: Operation,
    /// Name of the slice; `None` for a create.
    pub slice: Option<String>,
    /// Kind of the owner of the slice.
    pub owner: Text,
    /// Key of the owner of the slice: for slices of Services, the Service.
    pub service: ObjectKey,
    /// Error of the request, or the reason why none was sent.
    pub source: WriteFailure,
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
         correct the policy and delete these EndpointSlices",
        .slices.join(", ")
    )]
    Misplaced {
        /// Owner label: `service-name` for slices of Services, otherwise its key.
        label: String,
        /// Names of these slices.
        slices: Vec<String>,
    },
}

fn named(slice: Option<&String>) -> String {
    slice.map(|name| format!("{name} ")).unwrap_or_default()
}

/// Joins the messages of errors and their sources as upstream does (RC-5): each message once, and several in brackets.
pub(crate) fn join<E: std::error::Error>(errors: &[E]) -> String {
    let mut messages: Vec<String> = Vec::new();
    for message in errors.iter().map(E::to_string_full) {
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    match &messages[..] {
        [one] => one.clone(),
        _ => format!("[{}]", messages.join(", ")),
    }
}

/// Sender of the writes for one owner.
pub(crate) struct Writer<'a> {
    pub(crate) client: &'a Client,
    /// Kind of the owner, for error messages.
    pub(crate) owner: &'a Text,
    pub(crate) service: &'a ObjectKey,
    pub(crate) cache: &'a dyn SliceCache,
    pub(crate) names: &'a SliceNames,
    pub(crate) altered: &'a AlteredWrites,
    #[cfg(feature = "defects")]
    pub(crate) ghosts: &'a crate::ghosts::Ghosts,
    pub(crate) metrics: &'a dyn SliceMetrics,
}

/// Whether the writes of one address type were sent completely.
enum Done {
    All,
    /// The namespace is being deleted, so nothing can be created in it (RC-43).
    Terminating,
}

impl Writer<'_> {
    /// Sends the writes of a plan (RC-42 to RC-47), and returns the number of those that the server accepted.
    ///
    /// For each address type slices are created, then updated, then deleted; the first failure ends the writes of that
    /// type, and the other types continue. If the namespace is being deleted, they end without a failure (RC-43). A
    /// slice to delete that is gone already is not a failure (EC-46).
    ///
    /// With `hints`, the number of changed slices is reported for each address type without failures (RC-46). Slices
    /// that are not created because the owner is being deleted count, as upstream. `misplaced` are the names of slices
    /// because of which the plan's creates were removed; if there are any, the result is an error.
    pub(crate) async fn apply(
        &self,
        plan: &Plan,
        hints: Option<HintLabels>,
        misplaced: Vec<String>,
    ) -> Result<usize, ApplyError> {
        let (mut writes, mut failures) = (0, Vec::new());
        if !misplaced.is_empty() {
            let label = self.altered.label_name().to_owned();
            let source = WriteFailure::Misplaced { label, slices: misplaced };
            failures.push(self.failed(Operation::Create, None, source));
        }
        for plan in &plan.types {
            match (self.apply_type(plan, &mut writes).await, hints) {
                (Ok(Done::All), Some(hints)) => self.metrics.changed(plan.writes() + plan.withheld, hints),
                (Ok(_), _) => {}
                (Err(error), _) => failures.push(error),
            }
        }
        for slice in &plan.unsupported {
            if let Err(error) = self.delete(slice, &mut writes).await {
                failures.push(error);
            }
        }
        if failures.is_empty() { Ok(writes) } else { Err(ApplyError(failures)) }
    }

    async fn apply_type(&self, plan: &TypePlan, writes: &mut usize) -> Result<Done, WriteError> {
        for slice in &plan.create {
            match self.create(slice).await {
                Ok(()) => self.wrote(Operation::Create, writes),
                Err(error) if error.is_namespace_terminating() => {
                    tracing::debug!(
                        service = %self.service,
                        "Namespace is terminating, skipping the writes of this address type"
                    );
                    return Ok(Done::Terminating);
                }
                Err(error) => return Err(self.failed(Operation::Create, None, error.into())),
            }
        }
        for slice in &plan.update {
            let write = self.begin(slice);
            match self.client.update(slice).await {
                Ok(answer) => {
                    self.altered.answered(self.service, slice, &answer);
                    write.written(answer);
                    self.wrote(Operation::Update, writes);
                }
                Err(error) => {
                    if error.is_conflict() || error.is_not_found() {
                        write.conflict(slice);
                    } else {
                        write.failed(&error);
                    }
                    return Err(self.failed(Operation::Update, Some(slice), error.into()));
                }
            }
        }
        for slice in &plan.delete {
            self.delete(slice, writes).await?;
        }
        Ok(Done::All)
    }

    /// Creates a slice. If the create fails, its name is used for the next create, so that a lost response does not
    /// lead to a second slice.
    async fn create(&self, slice: &EndpointSlice) -> Result<(), Error> {
        let prefix = slice.metadata.generate_name.clone().unwrap_or_default();
        let mut named = slice.clone();
        let mut tries = 0;
        loop {
            let name = self.names.take(self.service, &prefix);
            named.metadata.name = name.name.clone();
            let write = self.begin(&named);
            let error = match self.client.create(&named).await {
                Ok(answer) => {
                    self.altered.answered(self.service, slice, &answer);
                    #[cfg(feature = "defects")]
                    let created = answer.clone();
                    write.written(answer);
                    #[cfg(feature = "defects")]
                    self.ghosts.created(self.service, &created, self.cache);
                    return Ok(());
                }
                Err(error) => {
                    write.failed(&error);
                    error
                }
            };
            tries += 1;
            // Unless an earlier create with this name was left without a response, the existing slice is not one of
            // this owner. The same holds if the slice has been moved to another owner or manager, or is being
            // deleted.
            if error.is_already_exists() && tries < NAMES_TO_TRY && (!name.unanswered || self.is_lost(&named)) {
                continue;
            }
            let unanswered = name.unanswered || error.may_have_been_applied();
            self.names.keep(self.service, SliceName { unanswered, ..name });
            return Err(error);
        }
    }

    /// Returns whether the cached slice of this name belongs to another owner or manager or is being deleted, so that
    /// the next plan does not find it. `false` if the cache has no such slice.
    fn is_lost(&self, slice: &EndpointSlice) -> bool {
        let cached = self.cache.get(&slice.metadata.namespace, &slice.metadata.name);
        cached.is_some_and(|cached| {
            cached.metadata.deletion_timestamp.is_some() || !self.altered.in_same_place(&cached, slice)
        })
    }

    async fn delete(&self, slice: &EndpointSlice, writes: &mut usize) -> Result<(), WriteError> {
        let ObjectMeta { namespace, name, uid, resource_version, .. } = &slice.metadata;
        // Upstream sends no preconditions, so a delayed request deletes a slice that another client has changed since.
        let unchanged = Some(Preconditions::unchanged(uid, resource_version));
        let write = self.begin(slice);
        match self.client.delete::<EndpointSlice>(namespace, name, unchanged).await {
            Ok(outcome) => {
                match outcome {
                    Deleted::Removed => write.deleted(slice),
                    Deleted::Pending(answer) => write.written(answer),
                }
                self.wrote(Operation::Delete, writes);
                Ok(())
            }
            // Another client deleted it; its watch event follows (EC-46).
            Err(error) if error.is_not_found() => {
                write.failed(&error);
                Ok(())
            }
            Err(error) => {
                if error.is_conflict() {
                    write.conflict(slice);
                } else {
                    write.failed(&error);
                }
                Err(self.failed(Operation::Delete, Some(slice), error.into()))
            }
        }
    }

    fn begin(&self, slice: &EndpointSlice) -> Box<dyn SliceWrite> {
        self.cache.begin(&slice.metadata.namespace, &slice.metadata.name)
    }

    fn wrote(&self, operation: Operation, writes: &mut usize) {
        self.metrics.wrote(operation);
        *writes += 1;
    }

    fn failed(&self, operation: Operation, slice: Option<&EndpointSlice>, source: WriteFailure) -> WriteError {
        let slice = slice.map(|it| it.metadata.name.to_string());
        WriteError { operation, slice, owner: self.owner.clone(), service: self.service.clone(), source }
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
