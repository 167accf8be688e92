//! Upstream's mirroring tracker as it was before kubernetes/kubernetes#125359, as far as it goes wrong.

use std::collections::HashMap;

use kube_ambient::{Defect, has};
use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{EndpointSlice, Uid};
use kube_informer::Event;

/// The slices of the initial list with their generations, until a write of this process changes them: upstream's tracker starts
/// empty and holds only slices that were written since.
#[derive(Debug, Default)]
pub(crate) struct Untracked {
    slices: HashMap<Uid, i64>,
}

impl Untracked {
    /// Takes in an event. Returns whether the mirroring controller ignores it: the deletion of a slice that its tracker does
    /// not hold.
    pub(crate) fn ignores(&mut self, event: &Event<EndpointSlice>, controller: &str) -> bool {
        if !has(Defect::UntrackedMirrorIgnored) || controller != MIRRORING_CONTROLLER {
            return false;
        }
        match event {
            Event::Added { object, initial: true, .. } => {
                self.slices.insert(object.metadata.uid.clone(), object.metadata.generation);
                false
            }
            Event::Deleted { object, .. } => {
                let metadata = &object.metadata;
                // The deletion of a slice with a finalizer raises its generation.
                let deletion = i64::from(metadata.deletion_timestamp.is_some());
                self.slices.remove(&metadata.uid).is_some_and(|listed| metadata.generation <= listed + deletion)
            }
            _ => false,
        }
    }
}
