//! Why the endpoints of a Service have changed.

mod actor;
mod contents;
mod entry;
mod fold;
mod follower;
mod order;
mod pending;
mod reasons;
mod slices;
mod text;
mod unknown;

use jiff::Timestamp;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::{Kind as Explained, Settings, World};

use crate::{Gap, Kind, ReadError, Recorded, Replay};

pub use crate::Action;
pub use entry::{Cause, EndpointChange, EndpointState, Entry, Hints, HintsChange, PortsChange, Written};
pub use fold::{Burst, Line, fold};
pub use text::lines as text;

use follower::Follower;
use order::Ordered;

/// The changes of a Service's endpoints, with their causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The changes, in their order.
    pub entries: Vec<Entry>,
    /// Times for which nothing is known, with their ends.
    pub gaps: Vec<(Gap, Timestamp)>,
    /// Whether gaps are writes of the Service or its objects whose content is unknown.
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
        let mut world = World::new(settings);
        for object in replay.objects() {
            add(&mut world, object);
        }
        for kind in replay.header().iter().flat_map(|header| &header.unknown) {
            world.set_unknown((*kind).into());
        }
        let mut follower = Follower::new(service.clone(), world);
        let mut changes = Ordered::new(replay, until);
        while let Some(change) = changes.next()? {
            let change = follower.after_unknown(change);
            follower.follow(&change);
        }
        follower.end_unknown();
        Ok(follower.into_timeline())
    }
}

impl From<Kind> for Explained {
    fn from(kind: Kind) -> Explained {
        match kind {
            Kind::Service => Explained::Service,
            Kind::Pod => Explained::Pod,
            Kind::Node => Explained::Node,
            Kind::Endpoints => Explained::Endpoints,
            Kind::EndpointSlice => Explained::EndpointSlice,
        }
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
