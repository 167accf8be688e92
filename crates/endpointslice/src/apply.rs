//! Carrying a plan out against an API server.

use std::fmt;

use k8s_openapi::api::discovery::v1 as discovery;
use kube_controller_client::{Client, Error};
use kube_endpoint_model::{EndpointSlice, ObjectKey};

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
#[error("failed to {verb} EndpointSlice {slice}for Service {service}: {source}", slice = named(.slice.as_ref()))]
pub struct WriteError {
    /// `create`, `update` or `delete`.
    pub verb: &'static str,
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

/// One message, or several in brackets, each once: as upstream joins them.
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
    let _writing = tracker.writing(service);
    let writer = Writer { client, service, tracker };
    let mut failures = Vec::new();
    for plan in &plan.types {
        if let Err(error) = writer.apply_type(plan).await {
            failures.push(error);
        }
    }
    for slice in &plan.unsupported {
        if let Err(error) = writer.delete(slice).await {
            failures.push(error);
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(ApplyError(failures)) }
}

struct Writer<'a> {
    client: &'a Client,
    service: &'a ObjectKey,
    tracker: &'a SliceTracker,
}

impl Writer<'_> {
    async fn apply_type(&self, plan: &TypePlan) -> Result<(), WriteError> {
        for slice in &plan.create {
            match self.client.create(&discovery::EndpointSlice::from(slice)).await {
                Ok(written) => self.tracker.wrote(self.service, written.uid.as_str(), written.generation),
                Err(error) if error.is_namespace_terminating() => {
                    tracing::debug!(service = %self.service, "Namespace is terminating, leaving its EndpointSlices");
                    return Ok(());
                }
                Err(source) => return Err(self.failed("create", None, source)),
            }
        }
        for slice in &plan.update {
            match self.client.update(&discovery::EndpointSlice::from(slice)).await {
                Ok(written) => self.tracker.wrote(self.service, written.uid.as_str(), written.generation),
                Err(source) => return Err(self.failed("update", Some(slice), source)),
            }
        }
        for slice in &plan.delete {
            self.delete(slice).await?;
        }
        Ok(())
    }

    async fn delete(&self, slice: &EndpointSlice) -> Result<(), WriteError> {
        let (namespace, name) = (&slice.metadata.namespace, &slice.metadata.name);
        match self.client.delete::<discovery::EndpointSlice>(namespace, name, None).await {
            Err(error) if !error.is_not_found() => Err(self.failed("delete", Some(slice), error)),
            _ => {
                self.tracker.deleted(self.service, slice.metadata.uid.clone());
                Ok(())
            }
        }
    }

    fn failed(&self, verb: &'static str, slice: Option<&EndpointSlice>, source: Error) -> WriteError {
        let slice = slice.map(|it| it.metadata.name.to_string());
        WriteError { verb, slice, service: self.service.clone(), source }
    }
}
