//! Restores of the store.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_conformance::Kind;
use serde_json::json;

use crate::objects::subsets;
use crate::world::{Needs, World};

const IP: &str = "10.1.0.1";
const OTHER: &str = "10.1.0.2";
const THIRD: &str = "10.1.0.3";

/// After a restore of etcd, resource versions that the controllers have observed are reused for other content.
#[tokio::test(flavor = "multi_thread")]
async fn the_controllers_follow_a_store_that_was_restored() -> Result<()> {
    let Some(world) = World::start(Needs::EMBEDDED).await? else { return Ok(()) };
    world
        .play(async |world| {
            world.pod("web", "a", IP, true).await?;
            world.service("web").await?;
            world.own_endpoints("own", &[IP]).await?;
            world.until_both("web", &[IP]).await?;
            world.until_slices("own", &[IP]).await?;
            world.settled().await?;
            let snapshot = world.server()?.snapshot();
            // Changes that the restore reverts: a replaced Pod, updated slices, a new Service.
            world.kill("a").await?;
            world.pod("web", "b", OTHER, true).await?;
            world.merge(Kind::Endpoints, "own", json!({"subsets": subsets(&[OTHER])})).await?;
            world.service("later").await?;
            world.until_both("web", &[OTHER]).await?;
            world.until_both("later", &[]).await?;
            world.until_slices("own", &[OTHER]).await?;
            world.settled().await?;

            // No API server runs during a restore, so a load balancer answers 503.
            let away = world.server()?.faults().inject(Fault::unavailable().on(On::any().verb("watch")));
            world.server()?.restore(&snapshot);
            world.reconnected().await?;
            tokio::time::sleep(Duration::from_secs(1)).await;
            world.server()?.faults().remove(away);
            // This reuses resource versions.
            world.pod("web", "c", THIRD, true).await?;
            world.until_both("web", &[IP, THIRD]).await?;
            world.until_slices("own", &[IP]).await?;
            world.settled().await?;
            world.until_both("web", &[IP, THIRD]).await?;
            let slices = world.until_slices("web", &[IP, THIRD]).await?;
            ensure!(slices.len() == 1, "{slices:#?}");
            Ok(())
        })
        .await
}
