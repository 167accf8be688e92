//! Policies that hide or reject the objects that the controllers write.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures::FutureExt as _;
use kube_dev_apiserver::Operation;
use serde_json::json;

use super::{Hostile, Needs, World, checks::Counts, world::SLICES};
use crate::{MANAGED_BY_LABEL, Output};

const IP: &str = "10.1.0.1";

/// Maximum number of rejected updates within 5 s, if the profile bounds writes. The default back-off of client-go starts
/// at 5 ms and makes about ten attempts.
const ATTEMPTS: usize = 20;

pub(super) fn scenarios() -> Vec<Hostile> {
    let lost = "Slices that lose their labels are not created without end.";
    let retried = "Rejected updates are retried with back-off.";
    let alone = "One address family does not wait for the other.";
    let (slices, mirrored) = (Needs::of(Output::ServiceSlices), Needs::of(Output::MirroredSlices));
    vec![
        Hostile::new("refused/managed-by-dropped", lost, slices, |world| {
            lost_labels(world, MANAGED_BY_LABEL, None).boxed()
        }),
        Hostile::new("refused/service-name-changed", lost, slices, |world| {
            lost_labels(world, world.profile.service_label(Output::ServiceSlices), Some("another")).boxed()
        }),
        Hostile::new("refused/updates", retried, slices, |world| updates(world).boxed()),
        Hostile::new("refused/one-address-family", alone, mirrored, |world| one_address_family(world).boxed()),
    ]
}

/// The controllers cannot find such a slice, or attribute it to another Service. As upstream, they create at most one
/// slice per event.
async fn lost_labels(world: &World, label: &str, value: Option<&'static str>) -> Result<()> {
    let label = label.to_owned();
    world.mutate(SLICES, move |slice| match (value, slice["metadata"]["labels"].as_object_mut()) {
        (None, Some(labels)) => drop(labels.remove(&label)),
        (Some(value), _) => slice["metadata"]["labels"][&label] = json!(value),
        (None, None) => {}
    })?;
    // A controller may stop to write slices that it cannot find.
    world.three_events(false).await?;
    let Some(counts) = world.counts(SLICES)? else { return Ok(()) };
    world.expect_number("creates after three events", counts.creates, 1..=3, 6)?;
    ensure!(counts.rejected == 0, "writes after three events: {counts:?}");
    Ok(())
}

async fn updates(world: &World) -> Result<()> {
    world.pod("web", "a", IP, false).await?;
    // If the event of the Pod arrived after that of the Service, it would trigger another sync.
    world.settled().await?;
    world.service("web").await?;
    world.until_both_exist().await?;
    world.settled().await?;
    let veto = world.veto(SLICES, |request, _| request.operation == Operation::Update)?;
    world.ready("a", true).await?;
    world.until_endpoints("web", &[IP]).await?;
    world.pause(Duration::from_secs(5)).await;
    if let Some(counts) = world.counts(SLICES)? {
        // Attempts after 0.5 s (the batch period), and then after 1, 2 and 4 s.
        world.expect_number("rejected updates within 5 s", counts.rejected, 1..=4, ATTEMPTS)?;
    }
    world.server()?.admission().remove(veto);
    world.until_slices("web", &[IP]).await?;
    world.settled().await?;
    let Some(counts) = world.counts(SLICES)? else { return Ok(()) };
    world.expect_counts(SLICES, Counts { rejected: counts.rejected, ..Counts::of(1, 1, 0) })
}

/// Upstream's mirroring stops at the first failed write. The order of address families is random, so the other family
/// gets its slice at the latest after some retries.
async fn one_address_family(world: &World) -> Result<()> {
    // Each family is refused once: one that is written first does not wait for the other.
    for (name, refused, written) in [("own", "IPv6", IP), ("other", "IPv4", "fd00::1")] {
        let veto = world.veto(SLICES, move |_, object| object.is_some_and(|slice| slice["addressType"] == refused))?;
        world.own_endpoints(name, &[IP, "fd00::1"]).await?;
        let slices = world.until_mirrored(name, &[written]).await?;
        world.expect_one_slice(&slices)?;
        world.server()?.admission().remove(veto);
        world.until_mirrored(name, &[IP, "fd00::1"]).await?;
    }
    Ok(())
}
