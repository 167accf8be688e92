//! Objects that a controller writes for its keys.

use kube_informer::Informer;
use kube_wire::{Decode, Index, ObjectKey};

use crate::ControllerBuilder;

/// Writer of objects that a controller owns, such as the `Reconciler` of `kube-endpointslice`, as a controller needs it
/// to sync the owners of objects that other clients change.
pub trait Owns {
    /// Type of the owned objects.
    type Object: Decode;
    /// Index of their informer.
    type Index: Index<Self::Object>;

    /// Returns the informer of the owned objects; `None` if the writer has none.
    fn informer(&self) -> Option<&Informer<Self::Object, Self::Index>>;

    /// Adds a handler that queues the owners of objects that other clients change, and stores the writer's own writes in
    /// the informer, so that they queue nothing. Without an informer, it does nothing.
    fn watch(&self, controller: &mut ControllerBuilder<ObjectKey>);

    /// Returns whether the writes pass a gate (`kube_controller_client::WriteGate`), such as that of a leader election.
    fn is_gated(&self) -> bool;
}
