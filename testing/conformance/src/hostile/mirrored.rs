//! Names of mirrored slices.

use anyhow::{Result, ensure};
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{Hostile, Needs, World, checks::Counts, world::SLICES};
use crate::{Kind, Output, objects::subsets};

const IP: &str = "10.1.0.1";

pub(super) fn scenarios() -> Vec<Hostile> {
    let about = "An updated mirrored slice keeps its name and loses its generateName.";
    let needs = Needs { exact: true, ..Needs::of(Output::MirroredSlices) };
    vec![Hostile::new("mirrored/name-kept", about, needs, |world| play(world).boxed())]
}

/// Updates contain the name but no `generateName`, which removes that of the create, as upstream (`newEndpointSlice`).
async fn play(world: &World) -> Result<()> {
    world.own_endpoints("own", &[IP]).await?;
    let before = world.until_mirrored("own", &[IP]).await?;
    world.merge(Kind::Endpoints, "own", json!({"subsets": subsets(&["10.1.0.2"])})).await?;
    let after = world.until_mirrored("own", &["10.1.0.2"]).await?;
    let meta = |slices: &[Value], field: &str| slices[0]["metadata"][field].clone();
    ensure!(
        meta(&before, "uid") == meta(&after, "uid")
            && meta(&before, "name") == meta(&after, "name")
            && (meta(&before, "generateName"), meta(&after, "generateName")) == (json!("own-"), Value::Null),
        "{after:#?}"
    );
    world.settled().await?;
    world.expect_counts(SLICES, Counts::of(1, 1, 0))
}
