//! The tour as data: the steps and expectations of each stage.

use kube_endpoint_model::Code;

use super::expect::Expectation::{self, Endpoints, FirstCause, OwnZones, Slices};
use crate::{
    kubelet::Stopping,
    view::{EndpointCounts, Rows},
};

/// Manifest that ships with this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Embedded {
    /// File name, for messages.
    pub(super) name: &'static str,
    /// Content.
    pub(super) text: &'static str,
}

/// Embeds a manifest from the folder `manifests` of the crate.
macro_rules! embedded {
    ($name:literal) => {
        Embedded {
            name: concat!("manifests/", $name),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/", $name)),
        }
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Create the objects of a manifest.
    Create(Embedded),
    /// Create the user's objects.
    CreateOwn,
    /// Delete Pods with their default grace period.
    DeletePods(&'static [&'static str]),
    /// Wait until a Pod no longer exists.
    AwaitPodGone(&'static str),
    /// Set whether containers of deleted Pods stop.
    Stopping(Stopping),
    /// Set the condition `Ready` of a Node to `Unknown`.
    LoseNode(&'static str),
    DeleteNode(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) title: &'static str,
    /// Explanation, printed below the heading.
    pub(super) text: &'static str,
    /// Steps, executed in order.
    pub(super) steps: Vec<Step>,
    /// Rows of the tables that are printed at the end.
    pub(super) show: Rows,
    /// Services that are explained below the tables.
    pub(super) explain: &'static [&'static str],
    /// Expectations that must be met before the next stage.
    pub(super) expect: Vec<Expectation>,
}

const V4: &str = "IPv4";
const V6: &str = "IPv6";
const NONE: EndpointCounts = EndpointCounts { ready: 0, not_ready: 0, draining: 0, terminating: 0 };

const fn ready(ready: usize) -> EndpointCounts {
    EndpointCounts { ready, ..NONE }
}

pub(super) fn stages() -> Vec<Stage> {
    let mut stages = vec![opening()];
    stages.extend(rollout());
    stages.extend(node_loss());
    stages.push(broken());
    stages
}

fn opening() -> Stage {
    Stage {
        title: "Deploying the shop",
        text: "Four Nodes in three zones, five Services, eleven Pods. The kubelets report the\n\
               addresses of the Pods; one second later the Pods are ready.",
        steps: vec![
            Step::Create(embedded!("nodes.yaml")),
            Step::Create(embedded!("services.yaml")),
            Step::Create(embedded!("pods.yaml")),
            Step::CreateOwn,
        ],
        show: Rows::All,
        explain: &[],
        expect: vec![
            Endpoints("web", ready(3)),
            Slices("web", V4, ready(3)),
            Endpoints("db", ready(3)),
            Slices("db", V4, ready(3)),
            Endpoints("api", ready(2)),
            Slices("api", V4, ready(2)),
            Slices("api", V6, ready(2)),
            Endpoints("assets", ready(3)),
            Slices("assets", V4, ready(3)),
            OwnZones("assets"),
            Slices("payments", V4, ready(2)),
        ],
    }
}

fn rollout() -> [Stage; 3] {
    [
        Stage {
            title: "A rollout of web: new Pods start",
            text: "Three Pods of the next version start alongside the old ones.",
            steps: vec![Step::Create(embedded!("rollout.yaml"))],
            show: Rows::Changed,
            explain: &[],
            expect: vec![Endpoints("web", ready(6)), Slices("web", V4, ready(6))],
        },
        Stage {
            title: "A rollout of web: old Pods are asked to stop",
            text: "They finish their open requests. Slices contain them as draining, for proxies\n\
                   that have no ready endpoint left; Endpoints do not.",
            steps: vec![Step::Stopping(Stopping::Paused), Step::DeletePods(&["web-v1-1", "web-v1-2", "web-v1-3"])],
            show: Rows::Changed,
            explain: &[],
            expect: vec![
                Endpoints("web", ready(3)),
                Slices("web", V4, EndpointCounts { ready: 3, draining: 3, ..NONE }),
            ],
        },
        Stage {
            title: "A rollout of web: old Pods are gone",
            text: "The containers have stopped, and the kubelets remove the Pods.",
            steps: vec![Step::Stopping(Stopping::Proceeds)],
            show: Rows::Changed,
            explain: &[],
            expect: vec![Endpoints("web", ready(3)), Slices("web", V4, ready(3))],
        },
    ]
}

fn node_loss() -> [Stage; 3] {
    [
        Stage {
            title: "A node is lost",
            text: "node-b1, the only Node in zone-b, stops reporting its status.\n\
                   Its Pods become not ready.",
            steps: vec![Step::LoseNode("node-b1")],
            show: Rows::Changed,
            explain: &[],
            expect: vec![
                Endpoints("web", EndpointCounts { ready: 2, not_ready: 1, ..NONE }),
                Slices("web", V4, EndpointCounts { ready: 2, not_ready: 1, ..NONE }),
                Endpoints("db", EndpointCounts { ready: 2, not_ready: 1, ..NONE }),
                Slices("db", V4, EndpointCounts { ready: 2, not_ready: 1, ..NONE }),
                Endpoints("assets", EndpointCounts { ready: 2, not_ready: 1, ..NONE }),
                Slices("assets", V4, EndpointCounts { ready: 2, not_ready: 1, ..NONE }),
                Endpoints("api", ready(2)),
            ],
        },
        Stage {
            title: "Its Pods are replaced",
            text: "They are deleted, but no kubelet confirms that their containers have stopped.\n\
                   A Deployment replaces them at once; a StatefulSet waits until the old Pod is\n\
                   gone.",
            steps: vec![
                Step::DeletePods(&["web-v2-2", "assets-2", "db-1"]),
                Step::Create(embedded!("replacements.yaml")),
            ],
            show: Rows::Changed,
            explain: &[],
            expect: vec![
                Endpoints("web", ready(3)),
                Slices("web", V4, EndpointCounts { ready: 3, terminating: 1, ..NONE }),
                Endpoints("db", ready(2)),
                Slices("db", V4, EndpointCounts { ready: 2, terminating: 1, ..NONE }),
                Endpoints("assets", ready(3)),
                Slices("assets", V4, EndpointCounts { ready: 3, terminating: 1, ..NONE }),
            ],
        },
        Stage {
            title: "The Node is deleted",
            text: "Its Pods are deleted with it. db-1 can then be created again on another Node.",
            steps: vec![Step::DeleteNode("node-b1"), Step::AwaitPodGone("db-1"), Step::Create(embedded!("db-1.yaml"))],
            show: Rows::All,
            explain: &[],
            expect: vec![
                Endpoints("web", ready(3)),
                Slices("web", V4, ready(3)),
                Endpoints("db", ready(3)),
                Slices("db", V4, ready(3)),
                Endpoints("assets", ready(3)),
                Slices("assets", V4, ready(3)),
                OwnZones("assets"),
                Slices("payments", V4, ready(2)),
            ],
        },
    ]
}

fn broken() -> Stage {
    Stage {
        title: "Three Services are broken on purpose",
        text: "checkout, search and cart receive no traffic. Below the tables is what the\n\
               command \"kubectl endpoints explain\" prints about each of them.",
        steps: vec![Step::Create(embedded!("broken.yaml"))],
        show: Rows::Changed,
        explain: &["checkout", "search", "cart"],
        expect: vec![
            Endpoints("checkout", NONE),
            Slices("checkout", V4, NONE),
            FirstCause("checkout", Code::PodNotSelected, "has app=check-out, selector requires app=checkout"),
            Endpoints("search", NONE),
            Slices("search", V4, ready(2)),
            FirstCause("search", Code::TargetPortUnknown, "targetPort \"http\" is not a port of any container"),
            Endpoints("cart", EndpointCounts { not_ready: 1, ..NONE }),
            Slices("cart", V4, EndpointCounts { not_ready: 1, ..NONE }),
            FirstCause(
                "cart",
                Code::PodNotReady,
                "readiness gate \"shop.example/prices-loaded\" has no condition, all containers are ready",
            ),
        ],
    }
}
