//! Changes while no controller runs.
//!
//! Each scenario leaves a state that no change explains which the controllers see. They must converge from it all the
//! same, as Kubernetes' do, and must not remove an endpoint that is right.

use anyhow::{Context as _, Result};
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{
    Hostile, Needs, Part, World,
    fleet::{MANAGED, Pod, address, expect_many, node, own, pod, service, service_name},
};
use crate::{Kind, Mode, Request, during};

/// Number of Services of most scenarios.
const SERVICES: usize = 60;
/// Namespace of the object that is left in `restarts/fresh-but-one`.
const SYSTEM: &str = "kube-system";

pub(super) fn scenarios() -> Vec<Hostile> {
    let any = Needs::SERVICES.embedded().mode(Mode::Restarted);
    let slices = Needs::SERVICE_SLICES.embedded().mode(Mode::Restarted);
    pods(any).into_iter().chain(edited(slices)).chain(others(any)).collect()
}

fn pods(any: Needs) -> Vec<Hostile> {
    vec![
        restart("pods-replaced", "A third of the Pods was replaced.", any, fleet_of(3), |world| {
            async {
                let replaced = || (0..SERVICES * 3).step_by(3);
                expect_many("replaced Pods", replaced().count())?;
                world.kill_pods(replaced()).await?;
                world.pods(&world.namespace, 1, SERVICES, replaced())
            }
            .boxed()
        }),
        restart("pods-deleted", "Most Pods were deleted.", any, fleet_of(2), |world| {
            async {
                let deleted = || (0..SERVICES * 2).filter(|number| number % 5 < 3);
                expect_many("deleted Pods", deleted().count())?;
                world.kill_pods(deleted()).await
            }
            .boxed()
        }),
    ]
}

fn edited(slices: Needs) -> Vec<Hostile> {
    vec![
        restart("slices-deleted", "All EndpointSlices were deleted.", slices, fleet_of(2), |world| {
            async {
                world.api().ok(Request::delete(Kind::EndpointSlice.collection(&world.namespace), None)).await?;
                Ok(())
            }
            .boxed()
        }),
        restart("half-of-slices-deleted", "Half of the EndpointSlices was deleted.", slices, fleet_of(2), |world| {
            async {
                for slice in world.list(Kind::EndpointSlice).await?.iter().step_by(2) {
                    world.delete(Kind::EndpointSlice, name(slice)?, None).await?;
                }
                Ok(())
            }
            .boxed()
        }),
        restart(
            "slices-edited",
            "Half of the EndpointSlices was edited to false addresses.",
            slices,
            fleet_of(2),
            |world| {
                async {
                    for slice in world.list(Kind::EndpointSlice).await?.iter().step_by(2) {
                        let mut endpoints = slice["endpoints"].clone();
                        for (number, endpoint) in (1..).zip(endpoints.as_array_mut().into_iter().flatten()) {
                            endpoint["addresses"] = json!([format!("192.0.2.{number}")]);
                        }
                        world.merge(Kind::EndpointSlice, name(slice)?, json!({"endpoints": endpoints})).await?;
                    }
                    Ok(())
                }
                .boxed()
            },
        ),
    ]
}

fn others(any: Needs) -> Vec<Hostile> {
    vec![
        restart("nodes-deleted", "The Nodes of half of the Services were deleted.", any, with_nodes, |world| {
            async {
                for number in (0..SERVICES * 2).filter(|number| number % SERVICES < SERVICES / 2) {
                    world.delete(Kind::Node, &node_name(world, 0, number), None).await?;
                }
                Ok(())
            }
            .boxed()
        }),
        restart("nodes-replaced", "Half of the Nodes was replaced, with their Pods.", any, with_nodes, |world| {
            async {
                let replaced = || (0..SERVICES * 2).step_by(2);
                expect_many("replaced Nodes", replaced().count())?;
                for number in replaced() {
                    world.delete(Kind::Node, &node_name(world, 0, number), None).await?;
                    world.kill(&format!("pod-{number}")).await?;
                }
                placed_pods(world, 1, replaced())
            }
            .boxed()
        }),
        restart(
            "namespace-deleted",
            "The Services and Pods of a namespace were deleted.",
            any,
            |world| {
                async {
                    world.fleet(&world.namespace, 5, 2)?;
                    let doomed = doomed(world);
                    world.create_namespace(&doomed).await?;
                    world.fleet(&doomed, SERVICES, 1)?;
                    world.load(own_services(&doomed))
                }
                .boxed()
            },
            |world| {
                async {
                    // The garbage collector deletes the slices of the Services, but not their Endpoints.
                    for kind in [Kind::Pod, Kind::Service] {
                        let options = json!({"gracePeriodSeconds": 0});
                        world.api().ok(Request::delete(kind.collection(&doomed(world)), Some(options))).await?;
                    }
                    Ok(())
                }
                .boxed()
            },
        ),
        restart("restored", "The store was restored to a state before the last Pods.", any, fleet_of(3), |world| {
            async {
                // The restored Pods are gone, and those that run are registered again.
                let replaced = || (0..SERVICES * 3).step_by(3);
                let snapshot = world.server()?.snapshot();
                world.kill_pods(replaced()).await?;
                world.pods(&world.namespace, 1, SERVICES, replaced())?;
                world.run_until_right().await?;
                world.server()?.restore(&snapshot);
                world.reconnected().await?;
                world.kill_pods(replaced()).await?;
                world.pods(&world.namespace, 1, SERVICES, replaced())
            }
            .boxed()
        }),
        Hostile::new(
            "restarts/fresh-but-one",
            "All slices and Endpoints are missing, except one managed Endpoints object.",
            any,
            |world| fresh_but_one(world).boxed(),
        ),
    ]
}

/// Returns a scenario in which `change` is made while no controller runs.
fn restart<B, C>(case: &str, about: &'static str, needs: Needs, build: B, change: C) -> Hostile
where
    B: for<'a> Fn(&'a World) -> futures::future::BoxFuture<'a, Result<()>> + Send + Sync + 'static,
    C: for<'a> Fn(&'a World) -> futures::future::BoxFuture<'a, Result<()>> + Send + Sync + 'static,
{
    let (build, change): (Part, Part) = (Box::new(build), Box::new(change));
    let parts = std::sync::Arc::new((build, change));
    Hostile::new(format!("restarts/{case}"), about, needs, move |world| {
        let parts = std::sync::Arc::clone(&parts);
        async move {
            let (build, change) = &*parts;
            build(world).await?;
            world.run_until_right().await?;
            change(world).await?;
            Box::pin(becomes_right(world)).await
        }
        .boxed()
    })
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

/// Returns a function that creates the Services, with this number of Pods each.
fn fleet_of(
    pods: usize,
) -> impl for<'a> Fn(&'a World) -> futures::future::BoxFuture<'a, Result<()>> + Send + Sync + 'static {
    move |world| async move { world.fleet(&world.namespace, SERVICES, pods) }.boxed()
}

/// Creates the Services with two Pods each, and a Node for each Pod.
fn with_nodes(world: &World) -> futures::future::BoxFuture<'_, Result<()>> {
    async {
        world.load((0..SERVICES).map(|number| service(&world.namespace, &service_name(number))))?;
        placed_pods(world, 0, 0..SERVICES * 2)
    }
    .boxed()
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

/// Returns Services without a selector, with custom Endpoints.
fn own_services(namespace: &str) -> Vec<(Kind, Value)> {
    (0..SERVICES).flat_map(|number| own(namespace, &format!("own-{number:03}"), &address(9, number))).collect()
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
