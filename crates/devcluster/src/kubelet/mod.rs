//! The kubelet of every node at once, as far as endpoints can tell: pods get addresses, become ready, and go when asked.
//!
//! A lost node is played too: its pods turn unready, as the node lifecycle controller of a real cluster makes them, and those
//! that are asked to go stay until the node itself is gone. What to do is decided without I/O and without a clock.

mod addresses;
mod decide;
mod patches;
mod run;
#[cfg(test)]
mod tests;

use std::{net::IpAddr, time::Duration};

use kube_wire::{ObjectKey, Uid};

pub(crate) use decide::Kubelet;
pub(crate) use run::run;

/// How fast containers are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// From the start of a pod until it is ready.
    pub(crate) ready_after: Duration,
    /// From being asked to stop until a pod is gone.
    pub(crate) stop_after: Duration,
}

/// Whether pods that are asked to stop may finish. A tour holds them to show what a terminating endpoint looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// They stop after a while.
    Proceeds,
    /// They go on serving until further notice.
    Held,
}

/// Something the kubelet does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// Say for a node that says nothing yet that it is ready.
    RegisterNode {
        /// The node.
        node: String,
    },
    /// Run the pod under these addresses.
    Start {
        /// The pod.
        pod: ObjectKey,
        /// Its addresses, the first one first.
        addresses: Vec<IpAddr>,
    },
    /// The pod passes its readiness probe.
    Ready {
        /// The pod.
        pod: ObjectKey,
    },
    /// Nothing is heard of the pod's node any more.
    Lost {
        /// The pod.
        pod: ObjectKey,
    },
    /// The pod has stopped; its object can go.
    Remove {
        /// The pod.
        pod: ObjectKey,
        /// Its identity: never remove a newer one of the same name.
        uid: Uid,
    },
}
