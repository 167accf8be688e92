//! What a reconciler remembers about one owner between syncs.

use std::time::Duration;

use kube_endpoint_model::{EndpointSlice, LastMessage, ObjectKey, ResourceVersion, ServiceState, Text};
use kube_informer::WriteThrough;
use tokio::time::Instant;

use crate::altered::{AlteredWrites, Basis, has_content};
use crate::metrics::Counted;
use crate::options::Options;
use crate::plan::Plan;
use crate::slice_names::{SliceName, SliceNames};

/// State of one owner of slices. It changes with what was sent, not with what was planned.
#[derive(Debug, Default)]
pub(crate) struct OwnerState {
    /// State of the slice controller.
    #[cfg_attr(not(feature = "controller"), expect(dead_code, reason = "the plans of Services read it"))]
    pub(crate) service: ServiceState,
    /// Hint events of the last plan.
    pub(crate) hint_events: LastMessage,
    /// What the owner adds to the metrics; `None` before its first plan.
    pub(crate) counted: Option<Counted>,
    /// `None` for most owners.
    unsettled: Option<Box<Unsettled>>,
}

/// Writes of one owner that did not end as planned.
#[derive(Debug, Default)]
struct Unsettled {
    names: SliceNames,
    altered: AlteredWrites,
}

impl OwnerState {
    /// Returns a name for a slice to create: that of a failed create with the same prefix, otherwise a new one.
    pub(crate) fn name(&mut self, prefix: &Text) -> SliceName {
        let kept = self.unsettled.as_mut().and_then(|it| it.names.take(prefix));
        kept.unwrap_or_else(|| SliceName::random(prefix))
    }

    /// Stores the name of a failed create for the next one.
    pub(crate) fn keep_name(&mut self, name: SliceName) {
        self.unsettled.get_or_insert_default().names.keep(name);
    }

    /// Records the response to a create or update. `owner` is the key of the owner, for the log.
    pub(crate) fn answered(
        &mut self,
        owner: &ObjectKey,
        options: &Options,
        sent: &EndpointSlice,
        answer: &EndpointSlice,
    ) {
        if !has_content(sent, answer) {
            self.unsettled.get_or_insert_default().altered.altered(owner, options, sent, answer);
        } else if let Some(unsettled) = &mut self.unsettled {
            unsettled.altered.unaltered(answer);
        }
    }

    /// Adapts the state and a plan to each other: names of slices that exist are no longer needed, and writes that the
    /// server answered with other content are [removed](AlteredWrites::suppress). Returns the names of misplaced slices.
    pub(crate) fn suppress(
        &mut self,
        now: Instant,
        basis: Basis<'_>,
        cache: Option<&WriteThrough<EndpointSlice>>,
        plan: &mut Plan,
    ) -> Vec<String> {
        let Some(unsettled) = &mut self.unsettled else { return Vec::new() };
        unsettled.names.exist(basis.existing.iter().map(|slice| &**slice));
        unsettled.altered.suppress(now, basis, cache, plan)
    }

    /// Records that all writes of a plan [were accepted](AlteredWrites::sent). Returns the time until the next sync that
    /// repeats those that the server changed.
    pub(crate) fn sent(
        &mut self,
        now: Instant,
        basis: Basis<'_>,
        plan: &Plan,
        answers: Vec<(Text, ResourceVersion)>,
    ) -> Option<Duration> {
        let retry = self.unsettled.as_mut()?.altered.sent(now, basis, plan, answers);
        self.unsettled.take_if(|it| it.names.is_empty() && it.altered.is_empty());
        retry
    }
}
