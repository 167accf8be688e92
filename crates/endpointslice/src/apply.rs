//! Carrying a plan out against an API server.

use std::fmt;

use kube_controller_client::{Client, Deleted, Error, Preconditions};
use kube_endpoint_model::{EndpointSlice, ObjectKey, ObjectMeta, Text};

use crate::altered::{AlteredWrites, in_same_place};
use crate::metrics::{HintLabels, Operation, SliceMetrics};
use crate::plan::{Plan, TypePlan};
use crate::slice_cache::{SliceCache, SliceWrite};
use crate::slice_names::{SliceName, SliceNames};

/// Names tried for one slice before the create fails because each of them exists (upstream's server tries 8).
const NAMES_TO_TRY: usize = 8;

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
#[error("failed to {} {slice}EndpointSlice for {owner} {service}: {source}", .operation.as_str(), slice = named(.slice.as_ref()))]
#[non_exhaustive]
pub struct WriteError {
    /// What was tried.
    pub operation: Operation,
    /// The slice; `None` when it was to be created.
    pub slice: Option<String>,
    /// The kind of the owner of the slice.
    pub owner: Text,
    /// The Service that the slice names.
    pub service: ObjectKey,
    /// What the server said, or why nothing was sent.
    pub source: WriteFailure,
}

/// Why a write failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFailure {
    /// The request failed.
    #[error(transparent)]
    Request(#[from] Error),
    /// Nothing was sent, since the server took the Service's labels off slices that were created before.
    #[error(
        "not sent: the API server changed the service-name or managed-by label of {}, which an admission policy may cause; \
         correct the policy and delete these EndpointSlices",
        .slices.join(", ")
    )]
    Misplaced {
        /// The slices that were created before, by name.
        slices: Vec<String>,
    },
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

/// Writes the slices of one Service.
pub(crate) struct Writer<'a> {
    pub(crate) client: &'a Client,
    /// The kind of the owner, for messages.
    pub(crate) owner: &'a Text,
    pub(crate) service: &'a ObjectKey,
    pub(crate) cache: &'a dyn SliceCache,
    pub(crate) names: &'a SliceNames,
    pub(crate) altered: &'a AlteredWrites,
    #[cfg(feature = "defects")]
    pub(crate) ghosts: &'a crate::ghosts::Ghosts,
    pub(crate) metrics: &'a dyn SliceMetrics,
}

/// How far the writes of one address type came without failure.
enum Done {
    All,
    /// Nothing can be created in the namespace any more (RC-43).
    Terminating,
}

impl Writer<'_> {
    /// Carries a plan out (RC-42 to RC-47) and returns how many writes the server accepted.
    ///
    /// For each address type slices are created, then updated, then deleted; the first failure ends that type, and the others go
    /// on. A namespace that is being deleted ends the type without failure, since nothing can be created there any more. What is
    /// already gone counts as deleted (EC-46).
    ///
    /// With `hints`, the number of slices changed is reported for each address type that went through (RC-46): slices that were
    /// not created for an owner that is being deleted count, as upstream counts them. `misplaced` are slices that forbid to
    /// create more, by name.
    pub(crate) async fn apply(
        &self,
        plan: &Plan,
        hints: Option<HintLabels>,
        misplaced: Vec<String>,
    ) -> Result<usize, ApplyError> {
        let (mut writes, mut failures) = (0, Vec::new());
        if !misplaced.is_empty() {
            failures.push(self.failed(Operation::Create, None, WriteFailure::Misplaced { slices: misplaced }));
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
                    tracing::debug!(service = %self.service, "Namespace is terminating, leaving its EndpointSlices");
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
                        write.refused(slice);
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

    /// Creates a slice under a name that is sent again if this fails, so that a lost answer leads to no second slice.
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
                Err(error) => error,
            };
            tries += 1;
            // Without an earlier create that may have been carried out, the slice is not of this Service: another name will do.
            // So it is when the slice has been given to another Service or manager meanwhile, or is being deleted.
            if error.is_already_exists() && tries < NAMES_TO_TRY && (!name.unanswered || self.is_lost(&named)) {
                continue;
            }
            let unanswered = name.unanswered || error.is_unanswered();
            self.names.keep(self.service, SliceName { unanswered, ..name });
            return Err(error);
        }
    }

    /// Whether the slice of this name is not one that the next plan finds, as far as the cache knows: another Service or manager
    /// has it, or it is being deleted.
    fn is_lost(&self, slice: &EndpointSlice) -> bool {
        let cached = self.cache.get(&slice.metadata.namespace, &slice.metadata.name);
        cached.is_some_and(|cached| cached.metadata.deletion_timestamp.is_some() || !in_same_place(&cached, slice))
    }

    async fn delete(&self, slice: &EndpointSlice, writes: &mut usize) -> Result<(), WriteError> {
        let ObjectMeta { namespace, name, uid, resource_version, .. } = &slice.metadata;
        // Upstream sets no condition: its late request deletes what another has made of the slice since.
        let unchanged = Some(Preconditions::unchanged(uid, resource_version));
        let write = self.begin(slice);
        match self.client.delete::<EndpointSlice>(namespace, name, unchanged).await {
            Ok(outcome) => {
                match outcome {
                    Deleted::Gone => write.deleted(slice),
                    Deleted::Pending(answer) => write.written(answer),
                }
                self.wrote(Operation::Delete, writes);
                Ok(())
            }
            // Someone else deleted it, which the watch will show (EC-46).
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => {
                if error.is_conflict() {
                    write.refused(slice);
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

    // RC-5
    #[rstest]
    #[case::one(&["a"], "a")]
    #[case::equal(&["a", "a"], "a")]
    #[case::several(&["a", "b", "a"], "[a, b]")]
    fn messages_are_joined_as_upstream_does(#[case] messages: &[&str], #[case] expected: &str) {
        assert_eq!(join(messages), expected);
    }
}
