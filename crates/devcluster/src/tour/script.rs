//! The tour, as data: what is done at each stage, and what must come of it.

use super::expect::{
    Expectation::{self, Endpoints, HostNames, ManagedBy, OwnZones, ReadyNodes, Slices},
    Family::{V4, V6},
};
use crate::{
    kubelet::Stopping,
    view::{Counts, Rows},
};

/// A manifest that ships with this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shipped {
    /// Its name, for messages.
    pub(super) name: &'static str,
    /// What is in it.
    pub(super) text: &'static str,
}

/// A manifest out of the crate's `manifests` folder.
macro_rules! shipped {
    ($name:literal) => {
        Shipped {
            name: concat!("manifests/", $name),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/", $name)),
        }
    };
}

/// Something that happens to the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Objects are created.
    Apply(Shipped),
    /// The user's own objects are created.
    ApplyOwn,
    /// Pods are asked to stop.
    DeletePods(&'static [&'static str]),
    /// The tour waits until a pod is gone.
    AwaitPodGone(&'static str),
    /// Whether pods that are asked to stop finish.
    Stopping(Stopping),
    /// A node is not heard of any more.
    LoseNode(&'static str),
    /// A node is given up.
    DeleteNode(&'static str),
}

/// A part of the tour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stage {
    /// In a few words.
    pub(super) title: &'static str,
    /// What to look at.
    pub(super) text: &'static str,
    /// What happens.
    pub(super) steps: Vec<Step>,
    /// Which rows of the tables are shown at the end.
    pub(super) show: Rows,
    /// What must come of it before the tour goes on.
    pub(super) expect: Vec<Expectation>,
}

const NONE: Counts = Counts { ready: 0, not_ready: 0, draining: 0, terminating: 0 };

const fn ready(ready: usize) -> Counts {
    Counts { ready, ..NONE }
}

const MIRRORING: &str = "endpointslicemirroring-controller.k8s.io";

/// The whole tour.
pub(super) fn stages() -> Vec<Stage> {
    let mut stages = vec![opening()];
    stages.extend(rollout());
    stages.extend(node_loss());
    stages
}

fn opening() -> Stage {
    Stage {
        title: "The shop opens",
        text: "Four nodes in three zones, five Services, eleven Pods. The kubelet gives the Pods addresses;\n\
           a moment later they are ready.",
        steps: vec![
            Step::Apply(shipped!("nodes.yaml")),
            Step::Apply(shipped!("services.yaml")),
            Step::Apply(shipped!("pods.yaml")),
            Step::ApplyOwn,
        ],
        show: Rows::All,
        expect: vec![
            ReadyNodes(4),
            Endpoints("web", ready(3)),
            Slices("web", V4, ready(3)),
            Endpoints("db", ready(3)),
            Slices("db", V4, ready(3)),
            HostNames("db", &["db-0", "db-1", "db-2"]),
            Endpoints("api", ready(2)),
            Slices("api", V4, ready(2)),
            Slices("api", V6, ready(2)),
            Endpoints("assets", ready(3)),
            Slices("assets", V4, ready(3)),
            OwnZones("assets"),
            Slices("payments", V4, ready(2)),
            ManagedBy("payments", MIRRORING),
        ],
    }
}

fn rollout() -> [Stage; 3] {
    [
        Stage {
            title: "A rollout of web: new Pods come",
            text: "Three Pods of the next version start beside the old ones.",
            steps: vec![Step::Apply(shipped!("rollout.yaml"))],
            show: Rows::News,
            expect: vec![Endpoints("web", ready(6)), Slices("web", V4, ready(6))],
        },
        Stage {
            title: "A rollout of web: old Pods are asked to stop",
            text: "They finish what they have begun. Slices say so, for proxies that have nothing better left;\n\
                   Endpoints cannot.",
            steps: vec![Step::Stopping(Stopping::Held), Step::DeletePods(&["web-v1-1", "web-v1-2", "web-v1-3"])],
            show: Rows::News,
            expect: vec![Endpoints("web", ready(3)), Slices("web", V4, Counts { ready: 3, draining: 3, ..NONE })],
        },
        Stage {
            title: "A rollout of web: old Pods are gone",
            text: "The containers have ended and the kubelet lets go of the Pods.",
            steps: vec![Step::Stopping(Stopping::Proceeds)],
            show: Rows::News,
            expect: vec![Endpoints("web", ready(3)), Slices("web", V4, ready(3))],
        },
    ]
}

fn node_loss() -> [Stage; 3] {
    [
        Stage {
            title: "A node is lost",
            text: "node-b1, the only one in zone-b, stops answering. Its Pods count as not ready.",
            steps: vec![Step::LoseNode("node-b1")],
            show: Rows::News,
            expect: vec![
                ReadyNodes(3),
                Endpoints("web", Counts { ready: 2, not_ready: 1, ..NONE }),
                Slices("web", V4, Counts { ready: 2, not_ready: 1, ..NONE }),
                Endpoints("db", Counts { ready: 2, not_ready: 1, ..NONE }),
                Slices("db", V4, Counts { ready: 2, not_ready: 1, ..NONE }),
                Endpoints("assets", Counts { ready: 2, not_ready: 1, ..NONE }),
                Slices("assets", V4, Counts { ready: 2, not_ready: 1, ..NONE }),
                Endpoints("api", ready(2)),
            ],
        },
        Stage {
            title: "Its Pods are replaced",
            text: "They are deleted, but nobody on the node can confirm that they have stopped. A Deployment replaces\n\
                   them at once, a StatefulSet must wait.",
            steps: vec![
                Step::DeletePods(&["web-v2-2", "assets-2", "db-1"]),
                Step::Apply(shipped!("replacements.yaml")),
            ],
            show: Rows::News,
            expect: vec![
                Endpoints("web", ready(3)),
                Slices("web", V4, Counts { ready: 3, terminating: 1, ..NONE }),
                Endpoints("db", ready(2)),
                Slices("db", V4, Counts { ready: 2, terminating: 1, ..NONE }),
                Endpoints("assets", ready(3)),
                Slices("assets", V4, Counts { ready: 3, terminating: 1, ..NONE }),
            ],
        },
        Stage {
            title: "The node is given up",
            text: "Its Node object is deleted and its Pods go with it. db-1 can start elsewhere, under the same name.",
            steps: vec![Step::DeleteNode("node-b1"), Step::AwaitPodGone("db-1"), Step::Apply(shipped!("db-1.yaml"))],
            show: Rows::All,
            expect: vec![
                ReadyNodes(3),
                Endpoints("web", ready(3)),
                Slices("web", V4, ready(3)),
                Endpoints("db", ready(3)),
                Slices("db", V4, ready(3)),
                HostNames("db", &["db-0", "db-1", "db-2"]),
                Endpoints("assets", ready(3)),
                Slices("assets", V4, ready(3)),
                OwnZones("assets"),
                Slices("payments", V4, ready(2)),
            ],
        },
    ]
}
