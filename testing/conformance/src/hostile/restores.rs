//! Restores of the store.

use std::time::Duration;

use anyhow::Result;
use futures::FutureExt as _;
use kube_dev_apiserver::{Fault, On};
use serde_json::json;

use super::{Hostile, Needs, World};
use crate::{Kind, objects::subsets};

const IP: &str = "10.1.0.1";
const OTHER: &str = "10.1.0.2";
const THIRD: &str = "10.1.0.3";

pub(super) fn scenarios() -> Vec<Hostile> {
    let reused = "The controllers follow a store that was restored and reuses resource versions.";
    let many = "Running controllers follow a store that was restored to a state with other Pods and Services.";
    let checked = Needs { checked_lists: true, ..Needs::services() };
    vec![
        Hostile::new("restores/reused-versions", reused, Needs::default(), |world| play(world).boxed()),
        Hostile::new("restores/many-changes", many, checked, |world| many_changes(world).boxed()),
    ]
}

/// A restore of etcd reverts many changes: replaced Pods, and a namespace with Services.
async fn many_changes(world: &World) -> Result<()> {
    const SERVICES: usize = 60;
    world.fleet(&world.namespace, SERVICES, 2)?;
    world.until_right(world.limits.state).await?;
    let snapshot = world.server()?.snapshot();
    let later = format!("{}-later", world.namespace);
    world.create_namespace(&later).await?;
    world.fleet(&later, SERVICES, 1)?;
    let replaced = || (0..SERVICES * 2).step_by(2);
    world.kill_pods(replaced()).await?;
    world.pods(&world.namespace, 1, SERVICES, replaced())?;
    world.until_right(world.limits.state).await?;
    world.settled().await?;

    // No API server runs during a restore, so a load balancer answers 503.
    let away = world.server()?.faults().inject(Fault::unavailable().on(world.controllers()?));
    world.server()?.restore_bumped(&snapshot, 1_000_000);
    world.reconnected().await?;
    let kept = world.record().await?;
    world.server()?.faults().remove(away);
    world.until_right(world.limits.state).await?;
    world.settled().await?;
    world.until_right(world.limits.state).await?;
    world.expect_kept(&kept).await
}

/// After a restore of etcd, resource versions that the controllers have observed are reused for other content.
async fn play(world: &World) -> Result<()> {
    world.pod("web", "a", IP, true).await?;
    world.service("web").await?;
    world.own_endpoints("own", &[IP]).await?;
    world.until_both("web", &[IP]).await?;
    world.until_mirrored("own", &[IP]).await?;
    world.settled().await?;
    let snapshot = world.server()?.snapshot();
    // Changes that the restore reverts: a replaced Pod, updated slices, a new Service.
    world.kill("a").await?;
    world.pod("web", "b", OTHER, true).await?;
    world.merge(Kind::Endpoints, "own", json!({"subsets": subsets(&[OTHER])})).await?;
    world.service("later").await?;
    world.until_both("web", &[OTHER]).await?;
    world.until_both("later", &[]).await?;
    world.until_mirrored("own", &[OTHER]).await?;
    world.settled().await?;

    // No API server runs during a restore, so a load balancer answers 503.
    let away = world.server()?.faults().inject(Fault::unavailable().on(On::any().verb("watch")));
    world.server()?.restore(&snapshot);
    world.reconnected().await?;
    world.pause(Duration::from_secs(1)).await;
    world.server()?.faults().remove(away);
    // This reuses resource versions.
    world.pod("web", "c", THIRD, true).await?;
    world.until_both("web", &[IP, THIRD]).await?;
    world.until_mirrored("own", &[IP]).await?;
    world.settled().await?;
    world.until_both("web", &[IP, THIRD]).await?;
    let slices = world.until_slices("web", &[IP, THIRD]).await?;
    if world.claims(crate::Output::ServiceSlices) {
        world.expect_one_slice(&slices)?;
    }
    Ok(())
}
