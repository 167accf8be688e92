//! Namespaces that remain terminating.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::FutureExt as _;

use super::{
    Hostile, Needs, World,
    checks::Counts,
    objects::slices_of,
    world::{ENDPOINTS, SLICES},
};
use crate::{Kind, Output, Request};

const IP: &str = "10.1.0.1";

pub(super) fn scenarios() -> Vec<Hostile> {
    let about = "In a namespace that remains terminating, each event costs one rejected create.";
    let needs = Needs { exact_writes: true, ..Needs::services() };
    let scenario = Hostile::new("namespaces/terminating", about, needs, |world| play(world).boxed());
    vec![scenario.server(|config| config.namespace_grace = Duration::MAX)]
}

/// The objects of a namespace that remains terminating stay, and creates in it are rejected.
async fn play(world: &World) -> Result<()> {
    world.pod("web", "a", IP, true).await?;
    // If the event of the Pod arrived after that of the Service, it would trigger another sync.
    world.settled().await?;
    world.service("web").await?;
    let slices = world.until_slices("web", &[IP]).await?;
    world.until_endpoints("web", &[IP]).await?;
    world.settled().await?;
    let path = format!("/api/v1/namespaces/{}", world.namespace);
    world.api().ok(Request::delete(path, None)).await?;
    world.settled().await?;
    ensure!(!world.list(Kind::Service).await?.is_empty(), "the objects of the terminating namespace are deleted");
    if world.claims(Output::ServiceSlices) {
        let name = slices[0]["metadata"]["name"].as_str().context("the slice has no name")?;
        world.delete(Kind::EndpointSlice, name, None).await?;
    }
    if world.claims(Output::Endpoints) {
        world.delete(Kind::Endpoints, "web", None).await?;
    }
    // The slice controller acts on deleted slices after a second.
    world.pause(Duration::from_secs(2)).await;
    world.settled().await?;
    world.expect_counts(SLICES, Counts { rejected: 1, ..Counts::of(1, 0, 0) })?;
    world.expect_counts(ENDPOINTS, Counts { rejected: 1, ..Counts::of(1, 0, 0) })?;
    world.ready("a", false).await?;
    world.pause(Duration::from_secs(2)).await;
    world.settled().await?;
    world.expect_counts(SLICES, Counts { rejected: 2, ..Counts::of(1, 0, 0) })?;
    world.expect_counts(ENDPOINTS, Counts { rejected: 2, ..Counts::of(1, 0, 0) })?;
    let slices = world.list(Kind::EndpointSlice).await?;
    ensure!(slices_of(&slices, "web").is_empty(), "{slices:#?}");
    Ok(())
}
