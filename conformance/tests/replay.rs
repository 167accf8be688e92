//! Plays all recordings on a cluster with the controllers. For the environment variables, see the README of this crate.

mod cluster;

use std::{cmp::Reverse, env, path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use cluster::Cluster;
use kube_endpoints_conformance::{Options, Outcome, Player, Recording, Tally, Target, Verdict};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn the_controllers_do_what_was_recorded() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = here.parent().expect("the crate is in a workspace");
    let options = Options::read(workspace, |name| env::var(name).ok()).expect("the environment variables are valid");
    let options = Arc::new(options);
    let recordings = here.join("recordings");
    let mut recordings = Recording::read_all(&recordings).expect("the recordings are valid");

    // Files differ in their Nodes, so each needs a cluster of its own. More than three at a time would overload a small
    // machine at the start, and save no time: the longest file takes as long as all others together.
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
        let (file, outcomes) = played.expect("the player does not panic");
        match outcomes {
            Ok((outcomes, tally)) => {
                verdict.add(&file, outcomes);
                writes.add(tally);
            }
            Err(error) => verdict.add_error(&file, &error),
        }
    }
    assert!(verdict.played() > 0, "CONFORMANCE_ONLY matches no scenario");
    assert!(verdict.is_good(), "differences from the recordings:\n{verdict}");
    eprintln!("{verdict}");
    eprintln!("{writes}");
}

/// Plays the scenarios of one file. Returns their outcomes and the numbers of writes of the controllers.
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
        // A failed clean-up does not change the outcomes.
        player.clean_up(&recording.nodes).await.unwrap_or_else(|error| eprintln!("cannot clean up: {error:#}"));
    }
    let played = played?;
    let writes = cluster.stop().await?;
    Ok((played, writes))
}

/// Prints a warning if the cluster has other Nodes, since hints depend on all Nodes of a cluster.
async fn warn_of_nodes(player: &Player) -> Result<()> {
    let nodes = player.api().list(kube_endpoints_conformance::Kind::Node, "", "").await?.items;
    if !nodes.is_empty() {
        let names: Vec<_> = nodes.iter().filter_map(|node| node["metadata"]["name"].as_str()).collect();
        eprintln!("warning: the cluster has other Nodes ({}): scenarios about hints may differ", names.join(", "));
    }
    Ok(())
}
