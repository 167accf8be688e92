//! Lost responses.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube_dev_apiserver::{Fault, On};
use rstest::rstest;
use serde_json::Value;

use crate::objects::service_of;
use crate::world::{Counts, Needs, SLICES, World};

const IP: &str = "10.1.0.1";

/// The response to a successful create is lost. With a late watch, the controller retries before it observes the slice.
#[rstest]
#[case::reset(Fault::apply_then_reset())]
#[case::timeout(Fault::apply_then_timeout())]
#[tokio::test(flavor = "multi_thread")]
async fn an_unconfirmed_create_leaves_one_slice(
    #[case] fault: Fault,
    #[values(false, true)] mirrored: bool,
    #[values(Duration::ZERO, Duration::from_secs(4))] late: Duration,
) -> Result<()> {
    let Some(world) = World::start(Needs::EMBEDDED).await? else { return Ok(()) };
    world
        .play(async |world| {
            let creates = On::any().verb("create").resource(SLICES).namespace(&world.namespace);
            world.server()?.faults().inject(fault.on(creates).times(1));
            world.delay_watches(SLICES, late)?;
            // If the event of the first object arrived after that of the second, it would trigger another sync.
            if mirrored {
                world.service_without_selector("web").await?;
                world.settled().await?;
                world.endpoints_without_service("web", &[IP]).await?;
            } else {
                world.pod("web", "a", IP, true).await?;
                world.settled().await?;
                world.service("web").await?;
            }
            world.until_slices("web", &[IP]).await?;
            world.settled().await?;
            let slices = world.until_slices("web", &[IP]).await?;
            ensure!(slices.len() == 1, "{slices:#?}");
            let of = |slice: &Value| service_of(slice).map(str::to_owned);
            let most = world.slice_history().most_at_once(&world.namespace, of);
            ensure!(most == 1, "{most} slices of one Service at the same time");
            let Some(Counts { creates, updates, deletes, rejected }) = world.counts(SLICES)? else { return Ok(()) };
            // Until the watch delivers the slice, the create is retried with back-off and rejected.
            let resent = if late.is_zero() { 0..=0 } else { 1..=3 };
            ensure!((creates, updates, deletes) == (1, 0, 0) && resent.contains(&rejected), "{rejected} rejected");
            Ok(())
        })
        .await
}
