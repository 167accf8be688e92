//! Failover between two processes.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use futures::FutureExt as _;
use kube_dev_apiserver::{Fault, LoggedRequest, On};

use super::{
    Hostile, Needs, World,
    objects::slices_of,
    world::{ENDPOINTS, SLICES},
};
use crate::{Kind, Mode, Output, alive};

const IP: &str = "10.1.0.1";
const OTHER: &str = "10.1.0.2";
const THIRD: &str = "10.1.0.3";

pub(super) fn scenarios() -> Vec<Hostile> {
    let about = "A standby whose caches are behind makes no duplicates when it becomes leader.";
    let needs = Needs { mode: Mode::Elected, ..Needs::services() };
    vec![Hostile::new("standby/behind", about, needs, |world| play(world).boxed())]
}

/// A standby whose caches are behind becomes leader. It must not act on these caches.
///
/// All requests are made by the users of the kubeconfigs, so that faults can apply to one of the processes.
async fn play(world: &World) -> Result<()> {
    let mut leader = world.start_elected("leader").await?;
    let work = async {
        world.pod("web", "a", IP, true).await?;
        world.service("web").await?;
        world.until_both("web", &[IP]).await
    };
    alive(&mut *leader, work).await?;
    // Only events of slices and Endpoints are late, by more than the duration of a failover.
    let late = Duration::from_secs(4);
    let mut standby = world.start_elected("standby").await?;
    let work = async {
        world.pause(Duration::from_secs(2)).await;
        for resource in [SLICES, ENDPOINTS] {
            let on = On::any().verb("watch").resource(resource).user("standby");
            world.server()?.faults().inject(Fault::delay_events(late, late).on(on.clone()));
            // Existing watches are cut, so that they are reopened with the delay.
            world.server()?.faults().cut_watches(&on);
        }
        world.pause(Duration::from_secs(1)).await;
        world.pod("web", "b", OTHER, true).await?;
        world.service("later").await?;
        world.own_endpoints("own", &[IP]).await?;
        world.until_both("web", &[IP, OTHER]).await?;
        let claims = |output| world.profile.claims(output);
        let later = !claims(Output::ServiceSlices) || !world.profile.is_exact();
        let own = !claims(Output::MirroredSlices);
        world
            .until("the new slices exist", Kind::EndpointSlice, |all| {
                (later || !slices_of(all, "later").is_empty()) && (own || !slices_of(all, "own").is_empty())
            })
            .await?;
        Ok(())
    };
    alive(&mut *leader, Box::pin(alive(&mut *standby, work))).await?;
    alive(&mut *standby, leader.stop()).await?;
    let work = async {
        world.pod("web", "c", THIRD, true).await?;
        world.until_both("web", &[IP, OTHER, THIRD]).await?;
        world.settled().await?;
        world.stays_quiet().await?;
        if world.profile.is_exact() {
            expect_no_conflicts(world).await?;
        }
        world.expect_at_most_one_slice_at_once()
    };
    alive(&mut *standby, work).await?;
    if let Err(error) = standby.stop().await {
        bail!("the standby did not shut down cleanly: {error:#}");
    }
    Ok(())
}

/// Fails if a write was rejected with 409, or a warning was recorded as an event.
async fn expect_no_conflicts(world: &World) -> Result<()> {
    let conflicts = world.server()?.requests().all();
    let conflicts: Vec<_> = conflicts.iter().filter(|it| it.status == Some(409) && it.resource != "leases").collect();
    let described = |it: &&LoggedRequest| format!("{} {} {}", it.user, it.verb, it.path);
    let conflicts: Vec<_> = conflicts.iter().map(described).collect();
    ensure!(conflicts.is_empty(), "conflicts: {conflicts:#?}");
    let events = world.list(Kind::Event).await?;
    ensure!(!events.iter().any(|event| event["type"] == "Warning"), "{events:#?}");
    Ok(())
}
