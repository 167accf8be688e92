//! Types of desired endpoints.

use kube_endpoint_model::Endpoint;

use crate::identity::Identity;

mod sealed {
    use crate::identity::Identity;
    use kube_endpoint_model::Endpoint;

    /// Methods of a desired endpoint that the reconciler calls. Sealed, so that they can change.
    pub trait View {
        fn identity(&self) -> Identity<'_>;
        /// Returns whether an existing endpoint of the same identity is as desired (RC-15): Node, zone, conditions, and
        /// target apart from its resource version. Hints are not compared.
        fn is_met_by(&self, existing: &Endpoint) -> bool;
        fn to_endpoint(&self) -> Endpoint;
        fn ready(&self) -> bool;
    }
}

pub(crate) use sealed::View;

/// Desired endpoint: an [`Endpoint`], or a [`PodEndpoint`](crate::PodEndpoint), which is converted only if a slice with
/// it is written.
pub trait DesiredEndpoint: View {
    /// The endpoint as it is written.
    fn endpoint(&self) -> Endpoint {
        self.to_endpoint()
    }

    /// Returns whether the endpoint is ready, without converting it. [`DesiredGroup::ready_count`] counts those that are.
    ///
    /// [`DesiredGroup::ready_count`]: crate::DesiredGroup::ready_count
    fn is_ready(&self) -> bool {
        self.ready()
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

    fn ready(&self) -> bool {
        Endpoint::is_ready(self)
    }
}
