//! The slices that show changes, or change otherwise.

use jiff::SignedDuration;
use kube_endpoint_model::well_known::{MIRRORING_CONTROLLER, SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{Code, EndpointSlice};
use kube_endpoints_explain::{Reason, World};

use super::contents::Contents;
use super::entry::{EndpointChange, Entry, Written};
use super::follower::{Follower, Seen};
use super::pending::{Early, version_of};
use crate::What;

impl Follower {
    /// Relates a slice to the entries that it shows, and adds one for each address that it shows otherwise.
    pub(super) fn follow_slice(
        &mut self,
        world: &mut World,
        seen: &Seen<'_>,
        slice: &EndpointSlice,
        expected: &Contents,
    ) {
        let now = Contents::written(&self.service, world);
        let before = std::mem::replace(&mut self.written, now);
        let differences = before.differences(&self.written);
        let is_ours = slice.is_managed_by(SLICE_CONTROLLER) || slice.is_managed_by(MIRRORING_CONTROLLER);
        let is_lost =
            slice.service_name() != Some(&*self.service.name) && !matches!(seen.change.what, What::Removed(_));
        let unmanaged = (!is_ours && !is_lost)
            .then(|| self.reports(world, seen).of_foreign_slice(slice.metadata.labels.get(SLICE_MANAGED_BY_LABEL)));
        if differences.is_empty() && unmanaged.is_some() {
            let cause = seen.cause((unmanaged.clone(), false));
            self.add(Entry { cause, ..seen.entry(&self.written) });
        }
        for endpoint in differences {
            let to = self.written.endpoint(&endpoint.address);
            if let Some(at) = self.pending.shown(&endpoint.address, &to, seen.change)
                && let Some(entry) = self.entries.get_mut(at)
            {
                entry.written = Some(written(entry, seen));
                self.shown.push(at);
                continue;
            }
            let is_right = expected.endpoint(&endpoint.address).is_shown_as(&to);
            let why = match &unmanaged {
                Some(reason) => (Some(reason.clone()), false),
                None => (Some(differs(is_right, is_lost)), is_right),
            };
            if is_ours && !is_lost {
                let (entry, version) = (self.entries.len(), version_of(seen.change));
                let (slice, manager) = (seen.object.clone(), seen.names.0.clone());
                let early = Early { entry, slice, manager, endpoint: to, seen: seen.change.seen, version };
                self.pending.add_early(&endpoint.address, early);
            }
            let pod = endpoint.pod.or_else(|| self.expected.endpoint(&endpoint.address).pod);
            let endpoint = Some(EndpointChange { pod, ..endpoint });
            self.add(Entry { endpoint, cause: seen.cause(why), ..seen.entry(&self.written) });
        }
        if before.hints != self.written.hints
            && let Some(entry) = self.pending_hints.take()
            && let Some(entry) = self.entries.get_mut(entry)
        {
            entry.written = Some(written(entry, seen));
        }
    }
}

fn written(entry: &Entry, seen: &Seen<'_>) -> Written {
    let after = seen.change.seen.duration_since(entry.time).max(SignedDuration::ZERO);
    Written { object: seen.object.clone(), manager: seen.names.0.clone(), after }
}

/// Returns the reason for a change of a slice of the controllers that no change of another object explains.
fn differs(is_right: bool, is_lost: bool) -> Reason {
    let (code, message) = match (is_right, is_lost) {
        (_, true) => (Code::SliceWithoutService, "the slice no longer has the label of the Service"),
        (true, false) => (Code::SlicesDiffer, "now as the controller would write it"),
        (false, false) => (Code::SlicesDiffer, "not as the controller would write it"),
    };
    Reason { code, message: message.to_owned() }
}
