//! What the plan of one Service reads.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{Cluster, EndpointSlice, Endpoints, ObjectKey};

use crate::events::{NotMirrored, not_mirrored};
use crate::plan::{MirrorPlan, plan};

/// Inputs of the plan for the slices that mirror the Endpoints of one Service. The controller, previews and explanations
/// read them here.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Endpoints object to mirror, or why there is none.
    pub endpoints: Result<Arc<Endpoints>, NothingToMirror>,
    /// Slices that this controller manages, including those that are being deleted (MI-4).
    pub existing: Vec<Arc<EndpointSlice>>,
}

/// Why a Service has no mirrored slices. Existing ones are deleted (MI-24), unless objects are withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NothingToMirror {
    /// There is no Endpoints object.
    NoEndpoints,
    /// The Endpoints object is not mirrored.
    NotMirrored(NotMirrored),
    /// The Service or the Endpoints object may exist although the cluster lacks it.
    Withheld,
}

impl Inputs {
    /// Reads the inputs for the Service of a name from a cluster.
    pub fn read(cluster: &impl Cluster, key: &ObjectKey) -> Inputs {
        let service = cluster.service(key);
        let endpoints = match cluster.endpoints(key) {
            None => Err(NothingToMirror::NoEndpoints),
            Some(endpoints) => match not_mirrored(&endpoints, service.as_deref()) {
                Some(reason) => Err(NothingToMirror::NotMirrored(reason)),
                None => Ok(endpoints),
            },
        };
        let is_withheld = || cluster.withholds_service(key) || cluster.withholds_endpoints(key);
        let endpoints = endpoints.map_err(|reason| if is_withheld() { NothingToMirror::Withheld } else { reason });
        Inputs { endpoints, existing: cluster.slices(key, MIRRORING_CONTROLLER) }
    }

    /// Plans the slices that mirror the Endpoints object, with at most `max` addresses of each subset and of each slice;
    /// `None` if there is nothing to mirror.
    pub fn plan(&self, max: NonZeroUsize) -> Option<MirrorPlan> {
        self.endpoints.as_ref().ok().map(|endpoints| plan(endpoints, &self.existing, max))
    }

    /// Returns the slices to delete because there is nothing to mirror.
    pub fn superfluous(&self) -> &[Arc<EndpointSlice>] {
        match self.endpoints {
            Ok(_) | Err(NothingToMirror::Withheld) => &[],
            Err(_) => &self.existing,
        }
    }
}
