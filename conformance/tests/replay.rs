//! Plays all recordings against a cluster with our controllers. See the README of this crate for the environment variables.

mod cluster;

use std::{cmp::Reverse, env, path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use cluster::Cluster;
use kube_endpoints_conformance::{Options, Outcome, Player, Recording, Tally, Target, Verdict};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn the_controllers_do_what_was_recorded() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = here.parent().expect("the workspace");
    let options = Options::read(workspace, |name| env::var(name).ok()).expect("the environment variables");
    let options = Arc::new(options);
    let recordings = here.join("recordings");
    let mut recordings = Recording::read_all(&recordings).expect("recordings");

    // Files differ in their nodes, so that each needs a cluster to itself. The embedded one costs little; but all files
    // at once would begin with more to do than a small machine can, and the longest takes as long as all others together.
    let at_once = if options.target == Target::Embedded { 3 } else { 1 };
    let steps = |recording: &Recording| recording.scenarios.iter().map(|scenario| scenario.steps.len()).sum::<usize>();
    recordings.sort_by_key(|(_, recording)| Reverse(steps(recording)));
    let mut recordings = recordings.into_iter();
    let mut playing = JoinSet::new();
    let mut verdict = Verdict::default();
    let mut writes = Tally::default();
    loop {
        while playing.len() < at_once
            && let Some((file, mut recording)) = recordings.next()
        {
            recording.scenarios.retain(|scenario| options.includes(&file, &scenario.name));
            let options = Arc::clone(&options);
            playing.spawn(async move {
                let outcomes = play(&options, &recording).await;
                (file, outcomes)
            });
        }
        let Some(played) = playing.join_next().await else { break };
        let (file, outcomes) = played.expect("playing does not panic");
        match outcomes {
            Ok((outcomes, tally)) => {
                verdict.add(&file, outcomes);
                writes.add(tally);
            }
            Err(error) => verdict.add_error(&file, &error),
        }
    }
    assert!(verdict.played() > 0, "CONFORMANCE_ONLY leaves nothing to play");
    assert!(verdict.is_good(), "not as recorded:\n{verdict}");
    eprintln!("{verdict}");
    eprintln!("{writes}");
}

/// Plays the scenarios of one file and counts the writes of the controllers.
async fn play(options: &Options, recording: &Recording) -> Result<(Vec<Outcome>, Tally)> {
    if recording.scenarios.is_empty() {
        return Ok(<_>::default());
    }
    let shared = matches!(options.target, Target::Cluster { .. });
    let cluster = Cluster::start(&options.target).await?;
    let player = Player::connect(cluster.config()).await.context("cannot connect")?;
    if shared {
        warn_of_nodes(&player).await?;
    }
    player.create_nodes(&recording.nodes).await.context("cannot create the nodes")?;
    let played = cluster
        .with_controllers(options, async {
            player.wait_for_controllers().await?;
            Ok(player.play(&recording.scenarios).await)
        })
        .await;
    if shared {
        // What was found counts, even if something is left behind.
        player.clean_up(&recording.nodes).await.unwrap_or_else(|error| eprintln!("cannot clean up: {error:#}"));
    }
    let played = played?;
    let writes = cluster.stop().await?;
    Ok((played, writes))
}

/// Hints depend on all nodes of a cluster.
async fn warn_of_nodes(player: &Player) -> Result<()> {
    let nodes = player.api().list(kube_endpoints_conformance::Kind::Node, "", "").await?.items;
    if !nodes.is_empty() {
        let names: Vec<_> = nodes.iter().filter_map(|node| node["metadata"]["name"].as_str()).collect();
        eprintln!("this cluster has nodes of its own, {}: scenarios about hints may differ", names.join(", "));
    }
    Ok(())
}
