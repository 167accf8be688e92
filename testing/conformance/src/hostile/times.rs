//! Times at the limits of the calendar, which Go can represent and other languages may not.

use anyhow::Result;
use futures::FutureExt as _;
use serde_json::json;

use super::{Hostile, Needs, World};
use crate::Kind;

pub(super) fn scenarios() -> Vec<Hostile> {
    let about = "A time at an end of the calendar stops nothing.";
    let mut all = Vec::new();
    for (name, time) in [("last", "9999-12-31T23:59:59Z"), ("first", "0001-01-01T00:00:01Z")] {
        let during = Hostile::new(format!("times/{name}"), about, Needs::services(), move |world| {
            async move {
                strange(world, time).await?;
                play(world, time).await
            }
            .boxed()
        });
        let before = Hostile::new(format!("times/{name}-before-the-start"), about, Needs::services(), move |world| {
            play(world, time).boxed()
        });
        all.extend([during, before.before(move |world| strange(world, time).boxed())]);
    }
    all
}

async fn strange(world: &World, time: &str) -> Result<()> {
    world.pod("strange", "s", "10.1.0.1", false).await?;
    world.service("strange").await?;
    ready_since(world, "s", time).await
}

async fn ready_since(world: &World, pod: &str, time: &str) -> Result<()> {
    let condition = json!({"type": "Ready", "status": "True", "lastTransitionTime": time});
    world.merge_status(Kind::Pod, pod, json!({"conditions": [condition]})).await?;
    Ok(())
}

async fn play(world: &World, time: &str) -> Result<()> {
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
}
