//! Edits of the controllers' objects by other clients.

use std::time::Duration;

use anyhow::Result;
use kube_dev_apiserver::History;
use kube_endpoints_conformance::Kind;
use serde_json::json;

use crate::objects::subsets;
use crate::world::{Needs, World};

const IP: &str = "10.1.0.1";
const OTHER: &str = "10.1.0.2";

/// An edit of Endpoints triggers no sync, as upstream. The next sync of the Service, here by a resync, repairs them.
#[tokio::test(flavor = "multi_thread")]
async fn a_hand_edited_endpoints_object_is_repaired_by_a_resync() -> Result<()> {
    let Some(mut world) = World::start(Needs::IN_PROCESS).await? else { return Ok(()) };
    world.settings.min_resync_period = Duration::from_secs(2);
    world.play(edited_and_repaired(async |_| Ok(()))).await
}

/// The relist after an expired watch triggers such a sync too.
#[tokio::test(flavor = "multi_thread")]
async fn a_hand_edited_endpoints_object_is_repaired_by_a_relist() -> Result<()> {
    let Some(world) = World::start(Needs::EMBEDDED).await? else { return Ok(()) };
    world
        .play(edited_and_repaired(async |world| {
            world.server()?.restart(History::Lost);
            world.reconnected().await
        }))
        .await
}

fn edited_and_repaired(then: impl AsyncFn(&World) -> Result<()>) -> impl AsyncFnOnce(&World) -> Result<()> {
    async move |world: &World| {
        world.pod("web", "a", IP, true).await?;
        world.service("web").await?;
        world.until_both("web", &[IP]).await?;
        world.merge(Kind::Endpoints, "web", json!({"subsets": subsets(&[OTHER])})).await?;
        then(world).await?;
        world.until_endpoints("web", &[IP]).await
    }
}
