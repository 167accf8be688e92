//! Existing endpoints that stay although they are not desired.

use kube_endpoint_model::Endpoint;

use crate::desired_endpoint::View;
use crate::desired_group::DesiredGroup;
use crate::identity::Identity;
use crate::input::Input;

/// A desired endpoint, or an existing one that stays as it is. See [`Input::keep`].
#[derive(Clone, Debug)]
pub enum Kept<E> {
    /// A desired endpoint.
    Desired(E),
    /// An existing endpoint.
    Existing(Endpoint),
}

impl<E: View> View for Kept<E> {
    fn identity(&self) -> Identity<'_> {
        match self {
            Kept::Desired(desired) => desired.identity(),
            Kept::Existing(existing) => Identity::of(existing),
        }
    }

    fn is_met_by(&self, existing: &Endpoint) -> bool {
        match self {
            Kept::Desired(desired) => desired.is_met_by(existing),
            Kept::Existing(kept) => kept.is_met_by(existing),
        }
    }

    fn to_endpoint(&self) -> Endpoint {
        match self {
            Kept::Desired(desired) => desired.to_endpoint(),
            Kept::Existing(existing) => existing.clone(),
        }
    }

    fn ready(&self) -> bool {
        match self {
            Kept::Desired(desired) => desired.ready(),
            Kept::Existing(existing) => existing.is_ready(),
        }
    }
}

impl<'a, E> Input<'a, E> {
    /// Keeps each existing endpoint for which `is_kept` returns `true`, with the ports of its slice, unless an endpoint of
    /// its identity is desired.
    ///
    /// For endpoints whose objects may exist although a cache lacks them
    /// ([withheld](https://docs.rs/kube-informer/latest/kube_informer/struct.Lister.html#method.is_withheld)): only their
    /// removal waits.
    #[must_use]
    pub fn keep(self, is_kept: impl Fn(&Endpoint) -> bool) -> Input<'a, Kept<E>> {
        let Input { owner, address_types, desired, existing, tracked_as, labels, annotations, trigger_time } = self;
        // Before the desired ones: of two endpoints with the same identity, the later one counts.
        let kept = existing.iter().map(|slice| DesiredGroup {
            address_type: slice.address_type.clone(),
            ports: slice.ports.clone(),
            endpoints: slice.endpoints.iter().filter(|it| is_kept(it)).cloned().map(Kept::Existing).collect(),
        });
        let kept = kept.filter(|group| !group.endpoints.is_empty());
        let desired = desired.into_iter().map(|DesiredGroup { address_type, ports, endpoints }| DesiredGroup {
            address_type,
            ports,
            endpoints: endpoints.into_iter().map(Kept::Desired).collect(),
        });
        let desired = kept.chain(desired).collect();
        Input { owner, address_types, desired, existing, tracked_as, labels, annotations, trigger_time }
    }
}
