//! Restores of the store.

use std::time::Duration;

use anyhow::Result;
use futures::FutureExt as _;
use kube_dev_apiserver::{Fault, On};
use serde_json::json;

use super::{Hostile, Needs, World, objects::subsets};
use crate::Kind;

const IP: &str = "10.1.0.1";
const OTHER: &str = "10.1.0.2";
const THIRD: &str = "10.1.0.3";

pub(super) fn scenarios() -> Vec<Hostile> {
    let about = "The controllers follow a store that was restored and reuses resource versions.";
    vec![Hostile::new("restores/reused-versions", about, Needs::default().embedded(), |world| play(world).boxed())]
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
