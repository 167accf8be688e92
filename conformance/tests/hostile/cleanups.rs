//! Clean-ups of mirrored slices that are obsolete before they end.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_conformance::Kind;
use rstest::rstest;
use serde_json::{Value, json};

use crate::objects::mirrored;
use crate::world::{Needs, SLICES, World};

const IP: &str = "10.1.0.1";

/// Mirroring is disabled and enabled again while the clean-up is in progress.
#[rstest]
#[case::skip_label(
    Kind::Endpoints,
    json!({"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}}),
    json!({"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": null}}})
)]
#[case::selector(Kind::Service, json!({"spec": {"selector": {"app": "own"}}}), json!({"spec": {"selector": null}}))]
#[tokio::test(flavor = "multi_thread")]
async fn mirroring_goes_on_when_the_clean_up_was_in_vain(
    #[case] kind: Kind,
    #[case] stop: Value,
    #[case] resume: Value,
    #[values(Duration::ZERO, Duration::from_secs(3))] late: Duration,
) -> Result<()> {
    let Some(world) = World::start(Needs::EMBEDDED).await? else { return Ok(()) };
    world
        .play(async |world| {
            // The selected Pod has the address of the Endpoints object, so the Endpoints controller does not change it.
            world.pod("own", "a", IP, true).await?;
            world.own_endpoints("own", &[IP]).await?;
            world.until_slices("own", &[IP]).await?;
            world.settled().await?;
            world.delay_watches(SLICES, late)?;
            let second = Duration::from_secs(1);
            let deletes = On::any().verb("delete").resource(SLICES).namespace(&world.namespace);
            world.server()?.faults().inject(Fault::delay_events(second, second).on(deletes.clone()).times(1));
            world.merge(kind, "own", stop).await?;
            // The delete is executed at once, and its response is delayed by one second.
            world.until("the slice is deleted", Kind::EndpointSlice, |all| mirrored(all, "own").is_empty()).await?;
            world.merge(kind, "own", resume).await?;
            let again = |slices: &[Value]| mirrored(slices, "own").len() == 1;
            world.until("a mirrored slice exists", Kind::EndpointSlice, again).await?;
            world.settled().await?;
            let slices = world.until("the mirrored slice still exists", Kind::EndpointSlice, again).await?;
            ensure!(mirrored(&slices, "own")[0]["endpoints"][0]["addresses"] == json!([IP]), "{slices:#?}");
            Ok(())
        })
        .await
}
