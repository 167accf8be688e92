//! What a plan needs to know of an endpoint there should be.

use kube_endpoint_model::Endpoint;

use crate::identity::Identity;

mod sealed {
    use crate::identity::Identity;
    use kube_endpoint_model::Endpoint;

    /// What the reconciler asks of a desired endpoint. Kept inside the crate, so that it may change.
    pub trait View {
        fn identity(&self) -> Identity<'_>;
        /// Whether an endpoint of the same identity is as it should be (RC-15): Node, zone, conditions and the object
        /// behind it, whatever its version. Hints are decided apart.
        fn is_met_by(&self, existing: &Endpoint) -> bool;
        fn to_endpoint(&self) -> Endpoint;
    }
}

pub(crate) use sealed::View;

/// An endpoint there should be: a whole [`Endpoint`], or a [`PodEndpoint`](crate::PodEndpoint), which becomes one only
/// where a slice with it is written.
pub trait DesiredEndpoint: View {
    /// The endpoint as it is written.
    fn endpoint(&self) -> Endpoint {
        self.to_endpoint()
    }
}

impl<T: View> DesiredEndpoint for T {}

impl View for Endpoint {
    fn identity(&self) -> Identity<'_> {
        Identity::of(self)
    }

    fn is_met_by(&self, existing: &Endpoint) -> bool {
        existing.equal_beyond_identity(self)
    }

    fn to_endpoint(&self) -> Endpoint {
        self.clone()
    }
}
