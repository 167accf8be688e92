//! Writes whose content is unknown.

use jiff::SignedDuration;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::{ObjectRef, World};

use super::entry::Unknown;
use super::follower::Follower;
use super::{actor, text};
use crate::{Change, Kind, UnknownWrite, What};

/// A write of unknown content, until the change after it.
pub(super) struct UnknownBefore {
    kind: Kind,
    key: ObjectKey,
    /// `None` if the object does not concern the Service.
    gap: Option<Unknown>,
}

impl Unknown {
    /// Returns the time that a gap or a write of unknown content leaves unknown; `None` for another change, and for a gap of no
    /// length, which marks the end of a recording.
    pub(crate) fn of(change: &Change) -> Option<Unknown> {
        let until = change.seen;
        let (from, reason) = match &change.what {
            What::Gap(gap) => (gap.since, gap.reason.clone()),
            What::Unknown(write) => {
                let object = ObjectRef::new(write.kind, &write.key);
                let (action, by) = (text::action(write.action), text::by(&actor::names(change, until)));
                let reason = format!("{object} was {action}{by}, and the audit log does not have its content");
                (until.saturating_sub(SignedDuration::from_millis(1)).unwrap_or(until), reason.as_str().into())
            }
            What::Put { .. } | What::Removed(_) => return None,
        };
        (from < until).then_some(Unknown { from, until, reason })
    }
}

impl Follower {
    /// Follows a write of unknown content, which is a gap. Objects that are not recorded are related to the Service by their names.
    pub(super) fn follow_unknown(&mut self, world: &World, change: &Change, write: &UnknownWrite) {
        let UnknownWrite { kind, ref key, is_recorded, .. } = *write;
        let name = key.name.as_str();
        let is_similar = || name.strip_prefix(self.service.name.as_str()).is_some_and(|rest| rest.starts_with('-'));
        let is_concerned = match kind {
            Kind::Service | Kind::Endpoints => true,
            Kind::Node => false,
            Kind::Pod if is_recorded => {
                self.expected.has_pod(name) || world.find_pod(key).is_some_and(|pod| self.selects(world, pod))
            }
            Kind::EndpointSlice if is_recorded => true,
            Kind::Pod | Kind::EndpointSlice => is_similar(),
        };
        let gap = is_concerned.then(|| Unknown::of(change)).flatten();
        self.unknown = Some(UnknownBefore { kind, key: key.clone(), gap });
    }

    /// Ends the write of unknown content that came before a change, or before the end; returns its gap. If the object is first seen in that
    /// change, it was not created then but changed, and only its state before is unknown.
    pub(super) fn after_unknown(&mut self, change: Option<Change>) -> (Option<Change>, Option<Unknown>) {
        let unknown = self.unknown.take();
        match (change, unknown) {
            (Some(Change { what: What::Put { before: None, after }, seen, author }), Some(unknown))
                if after.is(unknown.kind, &unknown.key) =>
            {
                (Some(Change { what: What::Put { before: Some(after.clone()), after }, seen, author }), None)
            }
            (change, unknown) => (change, unknown.and_then(|unknown| unknown.gap)),
        }
    }
}
