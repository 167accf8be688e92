//! Times at the limits of the calendar, which Go can represent and other languages may not.

use anyhow::Result;
use kube_endpoints_conformance::Kind;
use rstest::rstest;
use serde_json::json;

use crate::world::{Needs, World};

const LAST: &str = "9999-12-31T23:59:59Z";

/// Makes a Pod ready, with this transition time.
async fn ready_since(world: &World, pod: &str, time: &str) -> Result<()> {
    let condition = json!({"type": "Ready", "status": "True", "lastTransitionTime": time});
    world.merge_status(Kind::Pod, pod, json!({"conditions": [condition]})).await?;
    Ok(())
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_time_at_the_end_of_the_calendar_stops_nothing(
    #[values(LAST, "0001-01-01T00:00:01Z")] time: &'static str,
    #[values(false, true)] before_the_start: bool,
) -> Result<()> {
    let Some(world) = World::start(Needs::ANY).await? else { return Ok(()) };
    let strange = async |world: &World| {
        world.pod("strange", "s", "10.1.0.1", false).await?;
        world.service("strange").await?;
        ready_since(world, "s", time).await
    };
    if before_the_start {
        strange(&world).await?;
    }
    world
        .play(async |world| {
            if !before_the_start {
                strange(world).await?;
            }
            world.pod("web", "a", "10.1.0.2", true).await?;
            world.service("web").await?;
            world.until_both("web", &["10.1.0.2"]).await?;
            world.until_both("strange", &["10.1.0.1"]).await?;
            world.ready("a", false).await?;
            world.until_both("web", &[]).await?;
            // The endpoint of the Pod with the strange time is still updated.
            world.ready("s", false).await?;
            world.until_both("strange", &[]).await?;
            ready_since(world, "s", time).await?;
            world.until_both("strange", &["10.1.0.1"]).await?;
            Ok(())
        })
        .await
}
