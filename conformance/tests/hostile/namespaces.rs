//! Namespaces that remain terminating.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kube_endpoints_conformance::{Kind, Request};
use tokio::time::sleep;

use crate::objects::slices_of;
use crate::world::{Counts, ENDPOINTS, Needs, SLICES, World};

const IP: &str = "10.1.0.1";

/// The objects of a namespace that remains terminating stay, and creates in it are rejected.
#[tokio::test(flavor = "multi_thread")]
async fn a_terminating_namespace_costs_one_attempt_per_event() -> Result<()> {
    let config = kube_dev_apiserver::Config { namespace_grace: Duration::MAX, ..<_>::default() };
    let Some(world) = World::start_with(Needs::ANY, config).await? else { return Ok(()) };
    world
        .play(async |world| {
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
            if world.list(Kind::Service).await?.is_empty() {
                eprintln!("SKIPPED: this cluster deletes the objects of the namespace");
                return Ok(());
            }
            let name = slices[0]["metadata"]["name"].as_str().context("the slice has no name")?;
            world.delete(Kind::EndpointSlice, name, None).await?;
            world.delete(Kind::Endpoints, "web", None).await?;
            // The slice controller acts on deleted slices after a second.
            sleep(Duration::from_secs(2)).await;
            world.settled().await?;
            world.expect_counts(SLICES, Counts { rejected: 1, ..Counts::of(1, 0, 0) })?;
            world.expect_counts(ENDPOINTS, Counts { rejected: 1, ..Counts::of(1, 0, 0) })?;
            world.ready("a", false).await?;
            sleep(Duration::from_secs(2)).await;
            world.settled().await?;
            world.expect_counts(SLICES, Counts { rejected: 2, ..Counts::of(1, 0, 0) })?;
            world.expect_counts(ENDPOINTS, Counts { rejected: 2, ..Counts::of(1, 0, 0) })?;
            let slices = world.list(Kind::EndpointSlice).await?;
            ensure!(slices_of(&slices, "web").is_empty(), "{slices:#?}");
            Ok(())
        })
        .await
}
