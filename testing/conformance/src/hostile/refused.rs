//! Policies that hide or reject the objects that the controllers write.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures::FutureExt as _;
use kube_dev_apiserver::{AdmissionRequest, Operation};
use serde_json::{Value, json};

use super::{
    Hostile, Needs, World,
    checks::Counts,
    policy::{Mutation, Rule, Veto},
    world::SLICES,
};
use crate::{MANAGED_BY_LABEL, Output};

const IP: &str = "10.1.0.1";

/// Maximum number of rejected updates within 5 s, if the profile bounds writes. The default back-off of client-go starts
/// at 5 ms and makes about ten attempts.
const ATTEMPTS: usize = 20;

pub(super) fn scenarios() -> Vec<Hostile> {
    let lost = "Slices that lose their labels are not created without end.";
    vec![
        Hostile::new("refused/managed-by-dropped", lost, Needs::SERVICE_SLICES, |world| {
            lost_labels(world, "remove", MANAGED_BY_LABEL, None).boxed()
        }),
        Hostile::new("refused/service-name-changed", lost, Needs::SERVICE_SLICES, |world| {
            let label = world.profile.service_label(Output::ServiceSlices);
            lost_labels(world, "replace", label, Some("another")).boxed()
        }),
        Hostile::new(
            "refused/updates",
            "Rejected updates are retried with back-off.",
            Needs::SERVICE_SLICES,
            |world| updates(world).boxed(),
        ),
        Hostile::new(
            "refused/one-address-family",
            "One address family does not wait for the other.",
            Needs::MIRRORED_SLICES,
            |world| one_address_family(world).boxed(),
        ),
    ]
}

/// The controllers cannot find such a slice, or attribute it to another Service. As upstream, they create at most one
/// slice per event.
async fn lost_labels(world: &World, operation: &str, label: &str, value: Option<&'static str>) -> Result<()> {
    let pointer = format!("/metadata/labels/{}", label.replace('/', "~1"));
    let value_argument = value.map_or_else(String::new, |value| format!(", value: \"{value}\""));
    let cel = format!(r#"[JSONPatch{{op: "{operation}", path: "{pointer}"{value_argument}}}]"#);
    let label = label.to_owned();
    let rule: Rule = Box::new(move |slice| match (value, slice["metadata"]["labels"].as_object_mut()) {
        (None, Some(labels)) => drop(labels.remove(&label)),
        (Some(value), _) => slice["metadata"]["labels"][&label] = json!(value),
        (None, None) => {}
    });
    world.mutate(Mutation { name: "labels", resource: SLICES, cel, rule }).await?;
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
    let refuses = |request: &AdmissionRequest<'_>, _: Option<&Value>| request.operation == Operation::Update;
    let cel = "request.operation != 'UPDATE'";
    let veto = world.veto(Veto { name: "updates", resource: SLICES, cel, refuses }).await?;
    world.ready("a", true).await?;
    world.until_endpoints("web", &[IP]).await?;
    world.pause(Duration::from_secs(5)).await;
    if let Some(counts) = world.counts(SLICES)? {
        // Attempts after 0.5 s (the batch period), and then after 1, 2 and 4 s.
        world.expect_number("rejected updates within 5 s", counts.rejected, 1..=4, ATTEMPTS)?;
    }
    world.lift(veto).await?;
    world.until_slices("web", &[IP]).await?;
    world.settled().await?;
    let Some(counts) = world.counts(SLICES)? else { return Ok(()) };
    world.expect_counts(SLICES, Counts { rejected: counts.rejected, ..Counts::of(1, 1, 0) })
}

/// Upstream's mirroring stops at the first failed write. The order of address families is random, so the other family
/// gets its slice at the latest after some retries.
async fn one_address_family(world: &World) -> Result<()> {
    let refuses =
        |_: &AdmissionRequest<'_>, object: Option<&Value>| object.is_some_and(|slice| slice["addressType"] == "IPv6");
    let cel = "request.operation == 'DELETE' || object.addressType != 'IPv6'";
    let veto = world.veto(Veto { name: "families", resource: SLICES, cel, refuses }).await?;
    world.own_endpoints("own", &[IP, "fd00::1"]).await?;
    let slices = world.until_mirrored("own", &[IP]).await?;
    world.expect_one_slice(&slices)?;
    world.lift(veto).await?;
    world.until_mirrored("own", &[IP, "fd00::1"]).await?;
    Ok(())
}
