//! Simulation of all kubelets, limited to what affects endpoints: Pods get addresses, become ready when the conditions
//! of their readiness gates are true, and are removed after deletion.
//!
//! It also simulates the scheduler, the node lifecycle controller and the pod garbage collector: the Pods of a lost Node become
//! unready, and deleted ones remain until the Node object is deleted, with which all its Pods are deleted. A taint with the effect
//! `NoExecute` evicts Pods. Decisions ([`Kubelet`]) use no I/O and no clock.

mod addresses;
mod decide;
mod patches;
mod placement;
mod run;
#[cfg(test)]
mod tests;

use std::{net::IpAddr, time::Duration};

use kube_wire::{ObjectKey, Uid};

pub(crate) use decide::Kubelet;
pub(crate) use run::run;

/// Annotation of a Pod that sets the result of its readiness probe: `false` fails, anything else succeeds.
pub(crate) const READY: &str = "devcluster/ready";

/// Durations of container start and stop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Delays {
    /// Time from the start of a Pod until it is ready.
    pub(crate) ready_after: Duration,
    /// Time from the deletion of a Pod until its containers have stopped.
    pub(crate) stop_after: Duration,
}

/// Whether the containers of deleted Pods stop. The tour holds them to show terminating endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// Containers stop after [`Delays::stop_after`].
    Proceeds,
    /// Containers keep running.
    Paused,
}

/// Action of a simulated kubelet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// Set the condition `Ready` of a Node without one.
    RegisterNode { node: String },
    /// Bind the Pod to a Node.
    Bind {
        pod: ObjectKey,
        /// UID of the Pod, the precondition.
        uid: Uid,
        node: String,
    },
    /// Delete the Pod with its grace period, since its Node has a taint with the effect `NoExecute`.
    Evict {
        pod: ObjectKey,
        /// UID of the Pod, the precondition.
        uid: Uid,
    },
    /// Start the Pod with these addresses.
    Start {
        pod: ObjectKey,
        /// Addresses of the Pod, primary address first.
        addresses: Vec<IpAddr>,
    },
    /// Report whether the containers are ready, and whether the Pod is: not while a readiness gate is pending.
    Report {
        pod: ObjectKey,
        /// Whether the readiness probes succeed.
        containers: bool,
        ready: bool,
    },
    /// Mark the Pod unready, since its Node is lost.
    Lost { pod: ObjectKey },
    /// Delete the Pod object, since its containers have stopped or its Node is deleted.
    Remove {
        pod: ObjectKey,
        /// UID of the Pod, the precondition of the delete, which protects a new Pod of the same name.
        uid: Uid,
    },
}
