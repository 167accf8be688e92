//! Lists that lack objects which exist, at the start of the controllers and while they run.
//!
//! Controllers that take such a list for the truth remove the endpoints that follow from the missing objects, as
//! Kubernetes' do. The profile states whether they check lists instead.

use std::{ops::Range, time::Duration};

use anyhow::Result;
use futures::FutureExt as _;
use kube_dev_apiserver::{Effect, Fault};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    Hostile, Needs, World,
    fleet::{address, service_name},
    kept::Kept,
    world::{ENDPOINTS, SLICES},
};
use crate::{
    Kind, Mode, during,
    objects::{Pod, node, own, pod, service},
};

/// Number of Services, and of Services without a selector.
const SERVICES: usize = 60;
/// Numbers of the Services of the other namespace.
const OTHERS: Range<usize> = 100..105;
/// Number of a Pod that is created while a list is wrong.
const LATER: usize = 110;
/// Time from the first wrong list to its end.
const WRONG: Duration = Duration::from_secs(5);
/// Maximum additional time to recover from a wrong list.
const RECOVERY: Duration = Duration::from_secs(15);

/// A resource whose lists are wrong for a time.
#[derive(Clone, Copy)]
struct Wrong {
    case: &'static str,
    resource: &'static str,
    what: What,
}

/// What is wrong beside the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// The list lacks all objects.
    Empty,
    /// The list lacks all objects but the first five.
    Truncated,
    /// The list lacks the objects of one namespace.
    WithoutNamespace,
    /// The list lacks all objects, and reads of single objects are answered with 404.
    ReadsToo,
}

const WRONG_LISTS: [Wrong; 8] = [
    Wrong { case: "pods", resource: "pods", what: What::Empty },
    Wrong { case: "services", resource: "services", what: What::Empty },
    Wrong { case: "nodes", resource: "nodes", what: What::Empty },
    Wrong { case: "slices", resource: SLICES, what: What::Empty },
    Wrong { case: "endpoints", resource: ENDPOINTS, what: What::Empty },
    Wrong { case: "truncated", resource: "pods", what: What::Truncated },
    Wrong { case: "namespace", resource: "pods", what: What::WithoutNamespace },
    Wrong { case: "reads-too", resource: "pods", what: What::ReadsToo },
];

pub(super) fn scenarios() -> Vec<Hostile> {
    let needs = Needs { mode: Mode::Restarted, checked_lists: true, ..Needs::services() };
    let first = WRONG_LISTS.map(|wrong| {
        let about = "The first list lacks objects for a time.";
        Hostile::new(format!("first-lists/{}", wrong.case), about, needs, move |world| first(world, wrong).boxed())
    });
    let later = WRONG_LISTS.map(|wrong| {
        let about = "A list of running controllers lacks objects for a time.";
        Hostile::new(format!("later-lists/{}", wrong.case), about, needs, move |world| later(world, wrong).boxed())
    });
    first.into_iter().chain(later).collect()
}

/// The first lists of the controllers are wrong.
async fn first(world: &World, wrong: Wrong) -> Result<()> {
    build(world).await?;
    world.run_until_right().await?;
    let kept = world.record().await?;
    let faults = wrong.inject(world)?;
    // Boxed: the future has many kilobytes.
    let work = Box::pin(async {
        wrong.until_listed(world, &faults, 1).await?;
        // No object refers to a slice, so nothing contradicts a first list without slices.
        let believed = wrong.what == What::ReadsToo || wrong.resource == SLICES;
        wrong.goes_on_and_ends(world, &faults, believed).await
    });
    during(world.start().await?, work).await?;
    wrong.expect_kept(world, &kept).await
}

/// Lists of running controllers are wrong after a watch has expired.
async fn later(world: &World, wrong: Wrong) -> Result<()> {
    build(world).await?;
    let work = Box::pin(async {
        world.until_right(world.limits.start).await?;
        world.settled().await?;
        let kept = world.record().await?;
        let faults = wrong.inject(world)?;
        expire(world, wrong.resource).await?;
        // The first hit is the watch that is answered with 410.
        wrong.until_listed(world, &faults, 2).await?;
        if wrong.resource == "nodes" {
            // No change of Nodes triggers a sync, so without one, a list without Nodes has no effect.
            sync_services(world).await?;
        }
        wrong.goes_on_and_ends(world, &faults, wrong.what == What::ReadsToo).await?;
        wrong.expect_kept(world, &kept).await
    });
    during(world.start().await?, work).await
}

impl Wrong {
    /// Makes the lists of the controllers wrong. Returns the ids of the faults; the first one is that of lists.
    fn inject(self, world: &World) -> Result<Vec<u64>> {
        let faults = world.server()?.faults();
        let namespace = (self.what == What::WithoutNamespace).then(|| world.namespace.clone());
        let keep = if self.what == What::Truncated { 5 } else { 0 };
        let on = world.controllers()?.resource(self.resource);
        let lists = Fault::from(Effect::OmitObjects { namespace, keep });
        let mut ids = vec![faults.inject(lists.on(on.clone().verb("list").verb("watch")))];
        if self.what == What::ReadsToo {
            ids.push(faults.inject(Fault::reject(404).on(on.verb("get"))));
        }
        Ok(ids)
    }

    /// Waits until the fault of lists has hit this many requests.
    async fn until_listed(self, world: &World, faults: &[u64], hits: u32) -> Result<()> {
        let mut wait = world.wait(world.limits.start);
        let listed = || -> Result<bool> {
            let states = world.server()?.faults().states();
            Ok(states.iter().any(|it| faults.first() == Some(&it.id) && it.hits >= hits))
        };
        while !listed()? {
            wait.again(|| format!("the controllers do not list {}", self.resource)).await?;
        }
        Ok(())
    }

    /// Waits while the lists are wrong, ends the faults, and waits until the endpoints are right. If the wrong list was
    /// `believed`, only another list can correct it, and this makes the controllers request one.
    async fn goes_on_and_ends(self, world: &World, faults: &[u64], believed: bool) -> Result<()> {
        if self.what == What::WithoutNamespace {
            // What has nothing to do with the missing objects is written meanwhile.
            world.load([serving(&other(world), OTHERS.start, LATER)])?;
            world.until_served(&address(0, LATER)).await?;
        } else {
            sleep(WRONG).await;
        }
        for fault in faults {
            world.server()?.faults().remove(*fault);
        }
        if believed {
            expire(world, self.resource).await?;
        }
        world.until_right(world.limits.state + RECOVERY).await?;
        world.settled().await?;
        world.until_right(world.limits.state).await?;
        world.stays_quiet().await
    }

    /// Fails if a right endpoint was removed, unless reads agreed with the list, so that nothing showed that it was wrong.
    async fn expect_kept(self, world: &World, kept: &Kept) -> Result<()> {
        if self.what == What::ReadsToo { Ok(()) } else { world.expect_kept(kept).await }
    }
}

/// Creates Services with a Pod and a Node each, Services with custom Endpoints, and some of both in another namespace.
async fn build(world: &World) -> Result<()> {
    let other = other(world);
    world.create_namespace(&other).await?;
    for (namespace, numbers) in [(&world.namespace, 0..SERVICES), (&other, OTHERS)] {
        world.load(numbers.flat_map(|number| {
            let service = service(namespace, &service_name(number));
            let own = own(namespace, &format!("own-{number}"), &[&address(1, number)]);
            [service, node(&node_name(number)), serving(namespace, number, number)].into_iter().chain(own)
        }))?;
    }
    Ok(())
}

/// Labels all Services of the namespace of the scenario, so that the controllers sync them.
async fn sync_services(world: &World) -> Result<()> {
    for number in 0..SERVICES {
        let labels = json!({"metadata": {"labels": {"team": "network"}}});
        world.merge(Kind::Service, &service_name(number), labels).await?;
    }
    Ok(())
}

/// Returns a Pod on the Node of its Service.
fn serving(namespace: &str, service: usize, number: usize) -> (Kind, Value) {
    let (node, service, ip) = (node_name(service), service_name(service), address(0, number));
    pod(Pod { namespace, service: &service, name: &format!("pod-{number}"), ip: &ip, node: &node })
}

fn node_name(service: usize) -> String {
    format!("node-{service}")
}

fn other(world: &World) -> String {
    format!("{}-other", world.namespace)
}

/// Ends the watch of a resource, and answers its continuation with 410, so that the controllers list again.
async fn expire(world: &World, resource: &str) -> Result<()> {
    let faults = world.server()?.faults();
    let on = world.controllers()?.resource(resource).verb("watch");
    faults.inject(Fault::expired().on(on.clone()).times(1));
    let mut wait = world.wait(world.limits.state);
    while faults.cut_watches(&on) == 0 {
        wait.again(|| format!("the controllers do not watch {resource}")).await?;
    }
    Ok(())
}
