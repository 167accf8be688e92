//! Events about missing hints.

use anyhow::{Result, ensure};
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{Hostile, Needs, World, checks::Counts, world::SLICES};
use crate::{Kind, Output};

const IP: &str = "10.1.0.1";

pub(super) fn scenarios() -> Vec<Hostile> {
    let about = "The reason for missing hints is reported as an event, once per decision.";
    let needs = Needs { exact: true, events: true, ..Needs::of(Output::ServiceSlices) };
    vec![Hostile::new("hints/reported-once", about, needs, |world| play(world).boxed())]
}

async fn play(world: &World) -> Result<()> {
    let reported = async || -> Result<u64> {
        let events = world.list(Kind::Event).await?;
        let mut events: Vec<_> = events.iter().collect();
        events.retain(|event| event["reason"] == "TopologyAwareHintsDisabled");
        let count = |event: &Value| event["count"].as_u64().or(event["series"]["count"].as_u64()).unwrap_or(1);
        Ok(events.into_iter().map(count).sum())
    };
    world.pod("web", "a", IP, true).await?;
    world.pod("web", "b", "10.1.0.2", true).await?;
    // If the events of the Pods arrived after that of the Service, they would trigger another sync.
    world.settled().await?;
    let annotations = json!({"service.kubernetes.io/topology-mode": "Auto"});
    world.service_with("web", json!({"annotations": annotations})).await?;
    world.until_slices("web", &[IP, "10.1.0.2"]).await?;
    world.settled().await?;
    ensure!(reported().await? == 1, "reports after one event: {}", reported().await?);
    world.ready("a", false).await?;
    world.until_slices("web", &["10.1.0.2"]).await?;
    world.settled().await?;
    ensure!(reported().await? == 2, "reports after two events: {}", reported().await?);
    world.expect_counts(SLICES, Counts::of(1, 1, 0))
}
