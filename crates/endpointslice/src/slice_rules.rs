//! Rules for the writes of slices (RC-42 to RC-47).

use std::borrow::Cow;

use kube_controller::{Failure, WriteRules};
use kube_controller_client::{Error, RequestPriority};
use kube_endpoint_model::{EndpointSlice, ObjectKey, ResourceVersion, Text, Uid, Write};
use kube_informer::WriteThrough;
use kube_topology::HintPolicy;

use crate::altered::in_same_place;
use crate::apply::WriteError;
use crate::metrics::SliceMetrics;
use crate::options::Options;
use crate::owner_state::OwnerState;
use crate::plan::TypePlan;
use crate::priority::priority;
use crate::slice_names::SliceName;

/// Maximum number of names tried for one slice if slices with these names exist already, as in the API server.
const NAMES_TO_TRY: usize = 8;

/// How the writes of a plan ended.
pub(crate) struct Sent {
    /// Number of writes that the server accepted.
    pub(crate) writes: usize,
    pub(crate) failures: Vec<WriteError>,
    /// Names and resource versions of the slices that were created and updated.
    pub(crate) answers: Vec<(Text, ResourceVersion)>,
}

/// Rules for the writes of one sync.
pub(crate) struct SliceRules<'a> {
    pub(crate) owner: &'a ObjectKey,
    pub(crate) cache: Option<&'a WriteThrough<EndpointSlice>>,
    pub(crate) options: &'a Options,
    pub(crate) state: &'a mut OwnerState,
    pub(crate) metrics: &'a dyn SliceMetrics,
    /// Plans of the address types, each of which is a group of writes.
    pub(crate) types: &'a [TypePlan],
    /// Hint policy of the owner; `None` if changed slices are not counted.
    pub(crate) hints: Option<HintPolicy>,
    /// Name of the create that is being sent, and the number of names tried for it.
    pub(crate) name: Option<(SliceName, usize)>,
    /// Names and resource versions of the slices written so far, without those that are not found by their labels.
    pub(crate) answers: Vec<(Text, ResourceVersion)>,
}

impl SliceRules<'_> {
    /// Returns whether the cached slice of this name belongs to another owner or manager or is being deleted, so that
    /// the next plan does not find it. `false` if the cache has no such slice.
    fn is_lost(&self, slice: &EndpointSlice) -> bool {
        let cached = self.cache.and_then(|cache| cache.get(&slice.metadata.namespace, &slice.metadata.name));
        cached.is_some_and(|cached| {
            cached.metadata.deletion_timestamp.is_some() || !in_same_place(self.options, &cached, slice)
        })
    }

    /// Tries another name, or keeps the name for the next create, so that a lost response does not lead to a second slice.
    fn create_failed(&mut self, sent: &EndpointSlice, error: &Error) -> Failure {
        if let Some((name, tries)) = self.name.take() {
            // Unless an earlier create with this name was left without a response, by a sync or by an attempt that the
            // client has repeated, the existing slice is not one of this owner. The same holds if the slice has been
            // moved to another owner or manager, or is being deleted.
            let unanswered = name.unanswered || error.may_have_been_applied();
            if error.is_already_exists() && tries < NAMES_TO_TRY && (!unanswered || self.is_lost(sent)) {
                self.name = Some((self.state.name(&name.prefix), tries + 1));
                return Failure::Repeat;
            }
            self.state.keep_name(SliceName { unanswered, ..name });
        }
        if error.is_namespace_terminating() {
            tracing::debug!(
                service = %self.owner,
                "Namespace is terminating, skipping the writes of this address type"
            );
            return Failure::EndGroup;
        }
        Failure::Fail
    }
}

impl WriteRules<EndpointSlice> for SliceRules<'_> {
    fn priority(&self, writes: &[&Write<EndpointSlice>]) -> RequestPriority {
        priority(writes)
    }

    fn to_create<'p>(&mut self, planned: &'p EndpointSlice) -> Cow<'p, EndpointSlice> {
        let prefix = planned.metadata.generate_name.clone().unwrap_or_default();
        let (name, _) = self.name.get_or_insert_with(|| (self.state.name(&prefix), 1));
        let mut named = planned.clone();
        named.metadata.name = name.name.clone();
        Cow::Owned(named)
    }

    fn answered(&mut self, planned: &EndpointSlice, answer: &EndpointSlice) {
        self.state.answered(self.owner, self.options, planned, answer);
        if in_same_place(self.options, planned, answer) {
            self.answers.push((answer.metadata.name.clone(), answer.metadata.resource_version.clone()));
        }
        self.name = None;
    }

    fn accepted(&mut self, write: &Write<EndpointSlice>, _: &Uid) {
        self.metrics.wrote(write.verb());
    }

    fn failed(&mut self, write: &Write<EndpointSlice>, sent: &EndpointSlice, error: &Error) -> Failure {
        if matches!(write, Write::Create(_)) { self.create_failed(sent, error) } else { Failure::Fail }
    }

    /// Reports the number of changed slices of an address type (RC-46). Slices that are not created because the owner is
    /// being deleted count, as upstream.
    fn completed(&mut self, group: usize) {
        if let (Some(hints), Some(plan)) = (self.hints, self.types.get(group)) {
            self.metrics.changed(plan.len() + plan.withheld, hints);
        }
    }
}
