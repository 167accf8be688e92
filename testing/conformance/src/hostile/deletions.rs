//! Objects that remain for a while after their deletion.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{Hostile, Needs, World, world::SLICES};
use crate::{Kind, Output, WriteBound};

const IP: &str = "10.1.0.1";
const HOLD: &str = "example.com/hold";

/// Reason why an object remains after its deletion.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Finalizer,
    Foreground,
}

/// Deletes an object so that it remains terminating for two seconds, and then lets the deletion finish.
async fn delete_slowly(world: &World, kind: Kind, object: &Value, kept: Kept) -> Result<()> {
    let name = object["metadata"]["name"].as_str().context("the object has no name")?;
    let uid = &object["metadata"]["uid"];
    let options = match kept {
        Kept::Finalizer => {
            world.merge(kind, name, json!({"metadata": {"finalizers": [HOLD]}})).await?;
            json!({})
        }
        Kept::Foreground => {
            // A dependent with a finalizer blocks the deletion of its owner. Its label keeps the controllers from
            // acting on it.
            let api_version = if kind == Kind::EndpointSlice { "discovery.k8s.io/v1" } else { "v1" };
            let owner = json!({"apiVersion": api_version, "kind": format!("{kind:?}"), "name": name, "uid": uid,
                "blockOwnerDeletion": true});
            let labels = json!({"endpointslice.kubernetes.io/skip-mirror": "true"});
            let metadata =
                json!({"name": "dependent", "finalizers": [HOLD], "ownerReferences": [owner], "labels": labels});
            world.create(Kind::Endpoints, json!({"metadata": metadata})).await?;
            json!({"propagationPolicy": "Foreground"})
        }
    };
    let answer = world.delete(kind, name, Some(options)).await?;
    ensure!(answer["metadata"]["deletionTimestamp"].is_string(), "the response is not a terminating object: {answer}");
    world.pause(Duration::from_secs(2)).await;
    let listed = world.list(kind).await?;
    ensure!(listed.iter().any(|it| it["metadata"]["uid"] == *uid), "the object has been removed: {listed:#?}");
    match kept {
        Kept::Finalizer => drop(world.merge(kind, name, json!({"metadata": {"finalizers": null}})).await?),
        Kept::Foreground => {
            world.merge(Kind::Endpoints, "dependent", json!({"metadata": {"finalizers": null}})).await?;
        }
    }
    world.until("the old object is removed", kind, |all| !all.iter().any(|it| it["metadata"]["uid"] == *uid)).await?;
    Ok(())
}

pub(super) fn scenarios() -> Vec<Hostile> {
    let objects = [
        ("slice", Output::ServiceSlices),
        ("mirrored-slice", Output::MirroredSlices),
        ("endpoints", Output::Endpoints),
    ];
    let mut all = Vec::new();
    for (suffix, kept) in [("finalizer", Kept::Finalizer), ("foreground", Kept::Foreground)] {
        for (prefix, output) in objects {
            let about = "An object that remains terminating for two seconds is replaced.";
            let name = format!("deletions/{prefix}-{suffix}");
            all.push(Hostile::new(name, about, Needs::of(output), move |world| replaced(world, kept, output).boxed()));
        }
    }
    all
}

async fn replaced(world: &World, kept: Kept, output: Output) -> Result<()> {
    if output == Output::MirroredSlices {
        world.own_endpoints("web", &[IP]).await?;
    } else {
        world.pod("web", "a", IP, true).await?;
        world.service("web").await?;
    }
    world.until_of(output, "web", &[IP]).await?;
    world.settled().await?;
    let found = world.until_of(output, "web", &[IP]).await?;
    let old = found.first().context("no object")?;
    let kind = if output == Output::Endpoints { Kind::Endpoints } else { Kind::EndpointSlice };
    delete_slowly(world, kind, old, kept).await?;
    let found = world.until_of(output, "web", &[IP]).await?;
    ensure!(found.len() == 1 && found[0]["metadata"]["uid"] != old["metadata"]["uid"], "{found:#?} instead of {old:#}");
    world.settled().await?;
    let Some(counts) = world.counts(SLICES)?.filter(|_| kind == Kind::EndpointSlice) else { return Ok(()) };
    let is_exact = world.profile.writes == WriteBound::Exact;
    ensure!(!is_exact || (counts.creates == 2 && counts.deletes == 0), "{counts:?}");
    Ok(())
}
