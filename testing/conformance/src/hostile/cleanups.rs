//! Clean-ups of mirrored slices that are obsolete before they end.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures::FutureExt as _;
use kube_dev_apiserver::{Fault, On};
use serde_json::{Value, json};

use super::{Hostile, Needs, World, objects::mirrored, world::SLICES};
use crate::{Kind, Output};

const IP: &str = "10.1.0.1";

pub(super) fn scenarios() -> Vec<Hostile> {
    let mut all = Vec::new();
    for (suffix, late) in [("", Duration::ZERO), ("-late", Duration::from_secs(3))] {
        let skip = |value: Value| json!({"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": value}}});
        let (stop, resume) = (skip(json!("true")), skip(Value::Null));
        all.push(scenario(&format!("skip-label{suffix}"), Kind::Endpoints, stop, resume, late));
        let selector = |value: Value| json!({"spec": {"selector": value}});
        let (stop, resume) = (selector(json!({"app": "own"})), selector(Value::Null));
        all.push(scenario(&format!("selector{suffix}"), Kind::Service, stop, resume, late));
    }
    all
}

fn scenario(name: &str, kind: Kind, stop: Value, resume: Value, late: Duration) -> Hostile {
    let about = "Mirroring is disabled and enabled again while the clean-up is in progress.";
    Hostile::new(format!("cleanups/{name}"), about, Needs::of(Output::MirroredSlices), move |world| {
        let (stop, resume) = (stop.clone(), resume.clone());
        play(world, kind, stop, resume, late).boxed()
    })
}

async fn play(world: &World, kind: Kind, stop: Value, resume: Value, late: Duration) -> Result<()> {
    // The selected Pod has the address of the Endpoints object, so the Endpoints controller does not change it.
    world.pod("own", "a", IP, true).await?;
    world.own_endpoints("own", &[IP]).await?;
    world.until_mirrored("own", &[IP]).await?;
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
}
