//! Defect for the simulation: upstream's mirroring tracker before kubernetes/kubernetes#125359.

use std::collections::HashMap;

use kube_ambient::{Defect, is_enabled};
use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{EndpointSlice, Uid};
use kube_informer::Event;

/// Generations of the slices of the initial list, by UID. Upstream's tracker starts empty, so it does not contain a
/// slice until the process writes it.
#[derive(Debug, Default)]
pub(crate) struct Untracked {
    slices: HashMap<Uid, i64>,
}

impl Untracked {
    /// Handles an event, and returns whether the mirroring controller ignores it: the deletion of a slice that its
    /// tracker does not contain.
    pub(crate) fn ignores(&mut self, event: &Event<EndpointSlice>, controller: &str) -> bool {
        if !is_enabled(Defect::UntrackedMirrorIgnored) || controller != MIRRORING_CONTROLLER {
            return false;
        }
        match event {
            Event::Added { object, initial: true, .. } => {
                self.slices.insert(object.metadata.uid.clone(), object.metadata.generation);
                false
            }
            Event::Deleted { object, .. } => {
                let metadata = &object.metadata;
                // The deletion of a slice with a finalizer increments its generation.
                let deletion = i64::from(metadata.deletion_timestamp.is_some());
                self.slices.remove(&metadata.uid).is_some_and(|listed| metadata.generation <= listed + deletion)
            }
            _ => false,
        }
    }
}
