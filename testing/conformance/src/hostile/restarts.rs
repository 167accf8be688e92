//! Changes while no controller runs.
//!
//! Each scenario leaves a state that no change explains which the controllers see. They must converge from it all the
//! same, as Kubernetes' do, and must not remove an endpoint that is right.

use anyhow::{Context as _, Result};
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{
    Hostile, Needs, World,
    fleet::{MANAGED, address, expect_many, service_name},
};
use crate::{
    Kind, Mode, Output, Request, during,
    objects::{Pod, node, own, pod, service},
};

/// Number of Services of most scenarios.
const SERVICES: usize = 60;
/// Namespace of the object that is left in `restarts/fresh-but-one`.
const SYSTEM: &str = "kube-system";

/// What changes while no controller runs.
#[derive(Debug, Clone, Copy)]
enum Change {
    PodsReplaced,
    PodsDeleted,
    SlicesDeleted,
    HalfOfSlicesDeleted,
    SlicesEdited,
    NodesDeleted,
    NodesReplaced,
    NamespaceDeleted,
    Restored,
}

/// The name, the description and the change of each scenario with a run of the controllers before the change.
const SCENARIOS: [(&str, &str, Change); 9] = [
    ("pods-replaced", "A third of the Pods was replaced.", Change::PodsReplaced),
    ("pods-deleted", "Most Pods were deleted.", Change::PodsDeleted),
    ("slices-deleted", "All EndpointSlices were deleted.", Change::SlicesDeleted),
    ("half-of-slices-deleted", "Half of the EndpointSlices was deleted.", Change::HalfOfSlicesDeleted),
    ("slices-edited", "Half of the EndpointSlices was edited to false addresses.", Change::SlicesEdited),
    ("nodes-deleted", "The Nodes of half of the Services were deleted.", Change::NodesDeleted),
    ("nodes-replaced", "Half of the Nodes was replaced, with their Pods.", Change::NodesReplaced),
    ("namespace-deleted", "The Services and Pods of a namespace were deleted.", Change::NamespaceDeleted),
    ("restored", "The store was restored to a state before the last Pods.", Change::Restored),
];

pub(super) fn scenarios() -> Vec<Hostile> {
    let mode = Mode::Restarted;
    let needs = |change| match change {
        Change::SlicesDeleted | Change::HalfOfSlicesDeleted | Change::SlicesEdited => {
            Needs { mode, ..Needs::of(Output::ServiceSlices) }
        }
        _ => Needs { mode, ..Needs::services() },
    };
    let restarts = SCENARIOS.map(|(case, about, change)| {
        Hostile::new(format!("restarts/{case}"), about, needs(change), move |world| restart(world, change).boxed())
    });
    let about = "All slices and Endpoints are missing, except one managed Endpoints object.";
    let needs = Needs { mode, ..Needs::services() };
    let fresh = Hostile::new("restarts/fresh-but-one", about, needs, |world| fresh_but_one(world).boxed());
    restarts.into_iter().chain([fresh]).collect()
}

/// Makes a change between two runs of the controllers.
async fn restart(world: &World, change: Change) -> Result<()> {
    build(world, change).await?;
    world.run_until_right().await?;
    Box::pin(make(world, change)).await?;
    Box::pin(becomes_right(world)).await
}

/// Starts the controllers, which must write the right endpoints without removing any.
async fn becomes_right(world: &World) -> Result<()> {
    let kept = world.record().await?;
    let work = async {
        world.until_right(world.limits.start).await?;
        world.settled().await?;
        world.until_right(world.limits.state).await?;
        world.stays_quiet().await
    };
    Box::pin(during(world.start().await?, work)).await?;
    world.expect_kept(&kept).await
}

/// Creates the Services and Pods before a change.
async fn build(world: &World, change: Change) -> Result<()> {
    match change {
        Change::PodsReplaced | Change::Restored => world.fleet(&world.namespace, SERVICES, 3),
        Change::PodsDeleted | Change::SlicesDeleted | Change::HalfOfSlicesDeleted | Change::SlicesEdited => {
            world.fleet(&world.namespace, SERVICES, 2)
        }
        // Each Pod has a Node of its own.
        Change::NodesDeleted | Change::NodesReplaced => {
            world.load((0..SERVICES).map(|number| service(&world.namespace, &service_name(number))))?;
            placed_pods(world, 0, 0..SERVICES * 2)
        }
        Change::NamespaceDeleted => {
            world.fleet(&world.namespace, 5, 2)?;
            let doomed = doomed(world);
            world.create_namespace(&doomed).await?;
            world.fleet(&doomed, SERVICES, 1)?;
            world.load(
                (0..SERVICES).flat_map(|number| own(&doomed, &format!("own-{number:03}"), &[&address(9, number)])),
            )
        }
    }
}

async fn make(world: &World, change: Change) -> Result<()> {
    let third = || (0..SERVICES * 3).step_by(3);
    match change {
        Change::PodsReplaced => {
            expect_many("replaced Pods", third().count())?;
            world.kill_pods(third()).await?;
            world.pods(&world.namespace, 1, SERVICES, third())
        }
        Change::PodsDeleted => {
            let deleted = || (0..SERVICES * 2).filter(|number| number % 5 < 3);
            expect_many("deleted Pods", deleted().count())?;
            world.kill_pods(deleted()).await
        }
        Change::SlicesDeleted => {
            world.api().ok(Request::delete(Kind::EndpointSlice.collection(&world.namespace), None)).await?;
            Ok(())
        }
        Change::HalfOfSlicesDeleted => {
            for slice in world.list(Kind::EndpointSlice).await?.iter().step_by(2) {
                world.delete(Kind::EndpointSlice, name(slice)?, None).await?;
            }
            Ok(())
        }
        Change::SlicesEdited => {
            for slice in world.list(Kind::EndpointSlice).await?.iter().step_by(2) {
                let mut endpoints = slice["endpoints"].clone();
                for (number, endpoint) in (1..).zip(endpoints.as_array_mut().into_iter().flatten()) {
                    endpoint["addresses"] = json!([format!("192.0.2.{number}")]);
                }
                world.merge(Kind::EndpointSlice, name(slice)?, json!({"endpoints": endpoints})).await?;
            }
            Ok(())
        }
        Change::NodesDeleted => {
            for number in (0..SERVICES * 2).filter(|number| number % SERVICES < SERVICES / 2) {
                world.delete(Kind::Node, &node_name(world, 0, number), None).await?;
            }
            Ok(())
        }
        Change::NodesReplaced => {
            let replaced = || (0..SERVICES * 2).step_by(2);
            expect_many("replaced Nodes", replaced().count())?;
            for number in replaced() {
                world.delete(Kind::Node, &node_name(world, 0, number), None).await?;
                world.kill(&format!("pod-{number}")).await?;
            }
            placed_pods(world, 1, replaced())
        }
        // The garbage collector deletes the slices of the Services, but not their Endpoints.
        Change::NamespaceDeleted => {
            for kind in [Kind::Pod, Kind::Service] {
                let options = json!({"gracePeriodSeconds": 0});
                world.api().ok(Request::delete(kind.collection(&doomed(world)), Some(options))).await?;
            }
            Ok(())
        }
        // The restored Pods are gone, and those that run are registered again.
        Change::Restored => {
            let snapshot = world.server()?.snapshot();
            world.kill_pods(third()).await?;
            world.pods(&world.namespace, 1, SERVICES, third())?;
            world.run_until_right().await?;
            world.server()?.restore(&snapshot);
            world.reconnected().await?;
            world.kill_pods(third()).await?;
            world.pods(&world.namespace, 1, SERVICES, third())
        }
    }
}

/// Creates Pods and a Node for each of them.
fn placed_pods(world: &World, generation: usize, numbers: impl IntoIterator<Item = usize>) -> Result<()> {
    world.load(numbers.into_iter().flat_map(|number| {
        let (node_name, ip) = (node_name(world, generation, number), address(generation, number));
        let (service, name) = (service_name(number % SERVICES), format!("pod-{number}"));
        let pod = Pod { namespace: &world.namespace, service: &service, name: &name, ip: &ip, node: &node_name };
        [node(&node_name), self::pod(pod)]
    }))
}

fn node_name(world: &World, generation: usize, number: usize) -> String {
    format!("{}-{generation}-{number}", world.namespace)
}

/// Returns the name of the namespace that is deleted.
fn doomed(world: &World) -> String {
    format!("{}-doomed", world.namespace)
}

/// Of a cluster whose controllers have never run, one managed Endpoints object without a Service exists.
async fn fresh_but_one(world: &World) -> Result<()> {
    world.fleet(&world.namespace, SERVICES, 2)?;
    let labels = json!({MANAGED: "endpoint-controller"});
    let metadata = json!({"namespace": SYSTEM, "name": "left", "labels": labels});
    world.load([(Kind::Endpoints, json!({"metadata": metadata}))])?;
    Box::pin(becomes_right(world)).await
}

fn name(object: &Value) -> Result<&str> {
    object["metadata"]["name"].as_str().context("an object has no name")
}
