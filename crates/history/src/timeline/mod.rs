//! Why the endpoints of a Service have changed.

mod actor;
mod contents;
mod entry;
mod fold;
mod follower;
mod order;
mod pending;
mod present;
mod reasons;
mod slices;
mod text;
mod unknown;

use jiff::Timestamp;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::{Settings, World};

use crate::object::KINDS;
use crate::{Change, Kind, ReadError, Recorded, Replay, What};

pub use crate::Action;
pub use entry::{Cause, EndpointChange, EndpointState, Entry, Hints, HintsChange, PortsChange, Unknown, Written};
pub use fold::{Burst, Line, fold};
pub use present::Counts;
pub use text::lines as text;

pub(crate) use entry::milliseconds;
pub(crate) use follower::Follower;
pub(crate) use order::{Ordered, unknown_of};
pub(crate) use present::cause_of;
pub(crate) use text::{at, cause_text, duration, printable};
#[cfg(feature = "html")]
pub(crate) use text::{line_of, time_of};

/// The changes of a Service's endpoints, with their causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The changes, in their order.
    pub entries: Vec<Entry>,
    /// Gaps of the recording and writes of unknown content, in the order of their ends.
    pub gaps: Vec<Unknown>,
    /// Whether some of them are writes of the Service or its objects whose content is unknown.
    pub has_unknown_writes: bool,
}

impl Timeline {
    /// Returns the timeline of a Service, from the state of a replay on until a time.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if the history is damaged there.
    pub fn of_service(
        service: &ObjectKey,
        settings: Settings,
        replay: &mut Replay<'_>,
        until: Timestamp,
    ) -> Result<Timeline, ReadError> {
        let mut world = world_of(replay, settings);
        let mut follower = Follower::new(service.clone(), &world);
        let (mut changes, mut gaps, mut has_unknown_writes) = (Ordered::new(replay, until), Vec::new(), false);
        loop {
            let (next, unknown) = changes.next()?.unzip();
            if let Some(unknown) = unknown.flatten() {
                set_unknown(&mut world, &unknown);
                follower.expect_anew(&world);
            }
            let (change, gap) = follower.after_unknown(next);
            has_unknown_writes |= gap.is_some();
            gaps.extend(gap);
            let Some(change) = change else { break };
            apply(&mut world, &change);
            follower.follow(&mut world, &change);
            if let What::Gap(_) = change.what {
                gaps.extend(Unknown::of(&change));
            }
        }
        Ok(Timeline { entries: follower.into_entries(), gaps, has_unknown_writes })
    }
}

/// Returns the present state of a replay.
pub(crate) fn world_of(replay: &Replay<'_>, settings: Settings) -> World {
    let mut world = World::new(settings);
    for object in replay.objects() {
        add(&mut world, object);
    }
    set_unknown(&mut world, unknown_of(replay));
    world
}

/// Records which kinds the recorder cannot read.
pub(crate) fn set_unknown(world: &mut World, unknown: &[Kind]) {
    for kind in KINDS {
        if unknown.contains(&kind) {
            world.set_unknown(kind);
        } else {
            world.set_known(kind);
        }
    }
}

/// Applies a change to a world; a gap, or an unknown write, changes nothing.
pub(crate) fn apply(world: &mut World, change: &Change) {
    match &change.what {
        What::Put { after, .. } => add(world, after),
        What::Removed(before) => world.remove(before.kind(), &before.key()),
        What::Gap(_) | What::Unknown(_) => {}
    }
}

fn add(world: &mut World, object: &Recorded) {
    match object.clone() {
        Recorded::Service(service) => world.add_services([service]),
        Recorded::Pod(pod) => world.add_pods([pod]),
        Recorded::Node(node) => world.add_nodes([node]),
        Recorded::Endpoints(endpoints) => world.add_endpoints([endpoints]),
        Recorded::EndpointSlice(slice) => world.add_slices([slice]),
    }
}
