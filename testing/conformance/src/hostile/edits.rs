//! Edits of the controllers' objects by other clients.

use anyhow::Result;
use futures::FutureExt as _;
use kube_dev_apiserver::History;
use serde_json::json;

use super::{Hostile, Needs, World};
use crate::{Kind, Mode, Output, objects::subsets};

const IP: &str = "10.1.0.1";
const OTHER: &str = "10.1.0.2";

pub(super) fn scenarios() -> Vec<Hostile> {
    vec![
        Hostile::new(
            "edits/resync",
            "A hand-edited Endpoints object is repaired by a resync.",
            Needs { mode: Mode::Resync, ..Needs::of(Output::Endpoints) },
            // An edit of Endpoints triggers no sync, as upstream. The next sync of the Service repairs them.
            |world| {
                async {
                    edit(world).await?;
                    world.until_endpoints("web", &[IP]).await
                }
                .boxed()
            },
        ),
        Hostile::new(
            "edits/relist",
            "A hand-edited Endpoints object is repaired by the relist after an expired watch.",
            Needs::of(Output::Endpoints),
            |world| {
                async {
                    edit(world).await?;
                    world.server()?.restart(History::Lost);
                    world.reconnected().await?;
                    world.until_endpoints("web", &[IP]).await
                }
                .boxed()
            },
        ),
    ]
}

async fn edit(world: &World) -> Result<()> {
    world.pod("web", "a", IP, true).await?;
    world.service("web").await?;
    world.until_both("web", &[IP]).await?;
    world.merge(Kind::Endpoints, "web", json!({"subsets": subsets(&[OTHER])})).await?;
    Ok(())
}
