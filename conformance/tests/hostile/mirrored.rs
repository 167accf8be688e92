//! Names of mirrored slices.

use anyhow::{Result, ensure};
use kube_endpoints_conformance::Kind;
use serde_json::{Value, json};

use crate::objects::subsets;
use crate::world::{Counts, Needs, SLICES, World};

const IP: &str = "10.1.0.1";

/// Updates contain the name but no `generateName`, which removes that of the create, as upstream (`newEndpointSlice`).
#[tokio::test(flavor = "multi_thread")]
async fn an_updated_mirrored_slice_keeps_its_name_and_loses_its_prefix() -> Result<()> {
    let Some(world) = World::start(Needs::ANY).await? else { return Ok(()) };
    world
        .play(async |world| {
            world.own_endpoints("own", &[IP]).await?;
            let before = world.until_slices("own", &[IP]).await?;
            world.merge(Kind::Endpoints, "own", json!({"subsets": subsets(&["10.1.0.2"])})).await?;
            let after = world.until_slices("own", &["10.1.0.2"]).await?;
            let meta = |slices: &[Value], field: &str| slices[0]["metadata"][field].clone();
            ensure!(
                meta(&before, "uid") == meta(&after, "uid")
                    && meta(&before, "name") == meta(&after, "name")
                    && (meta(&before, "generateName"), meta(&after, "generateName")) == (json!("own-"), Value::Null),
                "{after:#?}"
            );
            world.settled().await?;
            world.expect_counts(SLICES, Counts::of(1, 1, 0))
        })
        .await
}
