//! Policies that hide or reject the objects that the controllers write.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube_dev_apiserver::{AdmissionRequest, Operation};
use kube_endpoints_conformance::Kind;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::policy::{Mutation, Veto};
use crate::world::{Counts, Needs, SLICES, World};

const IP: &str = "10.1.0.1";

fn drop_managed_by(slice: &mut Value) {
    if let Some(labels) = slice["metadata"]["labels"].as_object_mut() {
        labels.remove("endpointslice.kubernetes.io/managed-by");
    }
}

fn change_service_name(slice: &mut Value) {
    slice["metadata"]["labels"]["kubernetes.io/service-name"] = json!("another");
}

/// The controllers cannot find such a slice, or attribute it to another Service. As upstream, they create at most one
/// slice per event.
#[rstest]
#[case::managed_by_dropped(
    r#"[JSONPatch{op: "remove", path: "/metadata/labels/endpointslice.kubernetes.io~1managed-by"}]"#,
    drop_managed_by
)]
#[case::service_name_changed(
    r#"[JSONPatch{op: "replace", path: "/metadata/labels/kubernetes.io~1service-name", value: "another"}]"#,
    change_service_name
)]
#[tokio::test(flavor = "multi_thread")]
async fn slices_that_lose_their_labels_are_not_created_without_end(
    #[case] cel: &'static str,
    #[case] rule: fn(&mut Value),
) -> Result<()> {
    let Some(world) = World::start(Needs::ANY).await? else { return Ok(()) };
    world
        .play(async |world| {
            world.mutate(Mutation { name: "labels", resource: SLICES, cel, rule }).await?;
            world.three_events().await?;
            let Some(counts) = world.counts(SLICES)? else { return Ok(()) };
            ensure!((1..=3).contains(&counts.creates) && counts.rejected == 0, "writes after three events: {counts:?}");
            Ok(())
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_updates_are_retried_with_back_off() -> Result<()> {
    let Some(world) = World::start(Needs::ANY).await? else { return Ok(()) };
    world
        .play(async |world| {
            world.pod("web", "a", IP, false).await?;
            // If the event of the Pod arrived after that of the Service, it would trigger another sync.
            world.settled().await?;
            world.service("web").await?;
            world.until("a slice exists", Kind::EndpointSlice, |all| !all.is_empty()).await?;
            world.settled().await?;
            let refuses = |request: &AdmissionRequest<'_>, _: Option<&Value>| request.operation == Operation::Update;
            let cel = "request.operation != 'UPDATE'";
            let veto = world.veto(Veto { name: "updates", resource: SLICES, cel, refuses }).await?;
            world.ready("a", true).await?;
            world.until_endpoints("web", &[IP]).await?;
            sleep(Duration::from_secs(5)).await;
            if let Some(counts) = world.counts(SLICES)? {
                // Attempts after 0.5 s (the batch period), and then after 1, 2 and 4 s.
                ensure!((1..=4).contains(&counts.rejected), "writes within 5 s: {counts:?}");
            }
            world.lift(veto).await?;
            world.until_slices("web", &[IP]).await?;
            world.settled().await?;
            let Some(counts) = world.counts(SLICES)? else { return Ok(()) };
            world.expect_counts(SLICES, Counts { rejected: counts.rejected, ..Counts::of(1, 1, 0) })
        })
        .await
}

/// Upstream's mirroring stops at the first failed write. The order of address families is random, so the other family
/// gets its slice at the latest after some retries.
#[tokio::test(flavor = "multi_thread")]
async fn one_address_family_does_not_wait_for_the_other() -> Result<()> {
    let Some(world) = World::start(Needs::ANY).await? else { return Ok(()) };
    world
        .play(async |world| {
            let refuses = |_: &AdmissionRequest<'_>, object: Option<&Value>| {
                object.is_some_and(|slice| slice["addressType"] == "IPv6")
            };
            let cel = "request.operation == 'DELETE' || object.addressType != 'IPv6'";
            let veto = world.veto(Veto { name: "families", resource: SLICES, cel, refuses }).await?;
            world.own_endpoints("own", &[IP, "fd00::1"]).await?;
            let slices = world.until_slices("own", &[IP]).await?;
            ensure!(slices.len() == 1, "{slices:#?}");
            world.lift(veto).await?;
            world.until_slices("own", &[IP, "fd00::1"]).await?;
            Ok(())
        })
        .await
}
