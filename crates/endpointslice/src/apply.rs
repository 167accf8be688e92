//! Carrying a plan out against an API server.

use std::fmt;

use kube_controller_client::{Client, Error, Preconditions};
use kube_endpoint_model::{EndpointSlice, ObjectKey, ObjectMeta};

use crate::metrics::{HintLabels, Operation, SliceMetrics};
use crate::plan::{Plan, TypePlan};
use crate::tracker::SliceTracker;

/// The writes of a plan that failed.
#[derive(Debug, thiserror::Error)]
#[error("{}", join(.0))]
pub struct ApplyError(Vec<WriteError>);

impl ApplyError {
    /// The failures, at most one for each address type and one for each slice of an unsupported type.
    pub fn failures(&self) -> &[WriteError] {
        &self.0
    }
}

/// A write that failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {} EndpointSlice {slice}for Service {service}: {source}", .operation.as_str(), slice = named(.slice.as_ref()))]
#[non_exhaustive]
pub struct WriteError {
    /// What was tried.
    pub operation: Operation,
    /// The slice; `None` when it was to be created.
    pub slice: Option<String>,
    /// The Service the slice belongs to.
    pub service: ObjectKey,
    /// What the server said.
    pub source: Error,
}

fn named(slice: Option<&String>) -> String {
    slice.map(|name| format!("{name} ")).unwrap_or_default()
}

/// One message, or several in brackets, each once: as upstream joins them (RC-5).
pub(crate) fn join<T: fmt::Display>(errors: &[T]) -> String {
    let mut messages: Vec<String> = Vec::new();
    for message in errors.iter().map(ToString::to_string) {
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    match &messages[..] {
        [one] => one.clone(),
        _ => format!("[{}]", messages.join(", ")),
    }
}

/// Carries a plan out for the Service that its slices name (RC-42 to RC-47), and tells the tracker of each write.
///
/// For each address type slices are created, then updated, then deleted; the first failure ends that type, and the
/// others go on. A namespace that is being deleted ends the type without failure, since nothing can be created there any
/// more. What is already gone counts as deleted (EC-46).
pub async fn apply(
    client: &Client,
    service: &ObjectKey,
    plan: &Plan,
    tracker: &SliceTracker,
) -> Result<(), ApplyError> {
    apply_measured(client, service, plan, tracker, &()).await
}

/// As [`apply`], telling `metrics` of each write.
pub async fn apply_measured(
    client: &Client,
    service: &ObjectKey,
    plan: &Plan,
    tracker: &SliceTracker,
    metrics: &dyn SliceMetrics,
) -> Result<(), ApplyError> {
    Writer { client, service, tracker, metrics }.apply(plan, None).await
}

/// Writes the slices of one Service.
pub(crate) struct Writer<'a> {
    pub(crate) client: &'a Client,
    pub(crate) service: &'a ObjectKey,
    pub(crate) tracker: &'a SliceTracker,
    pub(crate) metrics: &'a dyn SliceMetrics,
}

/// How far the writes of one address type came without failure.
enum Done {
    All,
    /// Nothing can be created in the namespace any more (RC-43).
    Terminating,
}

impl Writer<'_> {
    /// See [`apply`]. With `hints` the number of slices changed is reported for each address type that went through
    /// (RC-46): slices that were not created for an owner on its way out count, as upstream counts them.
    pub(crate) async fn apply(&self, plan: &Plan, hints: Option<HintLabels>) -> Result<(), ApplyError> {
        let _writing = self.tracker.writing(self.service);
        let mut failures = Vec::new();
        for plan in &plan.types {
            match (self.apply_type(plan).await, hints) {
                (Ok(Done::All), Some(hints)) => self.metrics.changed(plan.writes() + plan.withheld, hints),
                (Ok(_), _) => {}
                (Err(error), _) => failures.push(error),
            }
        }
        for slice in &plan.unsupported {
            if let Err(error) = self.delete(slice).await {
                failures.push(error);
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(ApplyError(failures)) }
    }

    async fn apply_type(&self, plan: &TypePlan) -> Result<Done, WriteError> {
        for slice in &plan.create {
            match self.client.create(slice).await {
                Ok(written) => {
                    self.tracker.wrote(self.service, written.uid, written.generation);
                    self.metrics.wrote(Operation::Create);
                }
                Err(error) if error.is_namespace_terminating() => {
                    tracing::debug!(service = %self.service, "Namespace is terminating, leaving its EndpointSlices");
                    return Ok(Done::Terminating);
                }
                Err(source) => return Err(self.failed(Operation::Create, None, source)),
            }
        }
        for slice in &plan.update {
            match self.client.update(slice).await {
                Ok(written) => {
                    self.tracker.wrote(self.service, written.uid, written.generation);
                    self.metrics.wrote(Operation::Update);
                }
                Err(source) => return Err(self.failed(Operation::Update, Some(slice), source)),
            }
        }
        for slice in &plan.delete {
            self.delete(slice).await?;
        }
        Ok(Done::All)
    }

    async fn delete(&self, slice: &EndpointSlice) -> Result<(), WriteError> {
        let ObjectMeta { namespace, name, uid, resource_version, .. } = &slice.metadata;
        // Upstream sets no condition: its late request deletes what another has made of the slice since.
        let unchanged = Some(Preconditions::unchanged(uid, resource_version));
        match self.client.delete::<EndpointSlice>(namespace, name, unchanged).await {
            Ok(()) => {
                self.tracker.deleted(self.service, slice.metadata.uid.clone());
                self.metrics.wrote(Operation::Delete);
                Ok(())
            }
            // Somebody else deleted it. That is news, so that its event is to wake the Service: nothing is remembered.
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(self.failed(Operation::Delete, Some(slice), error)),
        }
    }

    fn failed(&self, operation: Operation, slice: Option<&EndpointSlice>, source: Error) -> WriteError {
        let slice = slice.map(|it| it.metadata.name.to_string());
        WriteError { operation, slice, service: self.service.clone(), source }
    }
}
