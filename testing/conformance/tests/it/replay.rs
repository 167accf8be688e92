//! Plays all recordings. For the environment variables, see the README of this crate.
//!
//! The controllers of this repository play in virtual time, in the process of the test: what they see between two
//! operations does not depend on the machine. Programs and other clusters play in real time, over HTTP.

use std::sync::Arc;

use kube_controller_client::Config;
use kube_dev_apiserver::Server;
use kube_endpoints_conformance::{Kit, Mode, Player, Recording, Report};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::ours;

#[test]
fn the_controllers_do_what_was_recorded() {
    let mut recordings = Recording::builtin().expect("the recordings are valid");
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let only: Vec<&str> = only.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    for (file, recording) in &mut recordings {
        let key = |name: &str| format!("{file}/{name}");
        recording.scenarios.retain(|it| only.is_empty() || only.iter().any(|part| key(&it.name).contains(part)));
    }
    let report = if ours::program().is_some() { in_real_time(recordings) } else { in_virtual_time(recordings) };
    assert!(report.played() > 0, "CONFORMANCE_ONLY matches no scenario");
    assert!(report.is_good(), "differences from the recordings:\n{report}");
    eprintln!("{report}");
    eprintln!("{}", report.writes);
}

fn in_real_time(recordings: Vec<(String, Recording)>) -> Report {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let kit = Arc::new(ours::kit());
        let plan = kit.plan(recordings, Vec::new(), |_| true);
        assert!(plan.skipped.is_empty(), "{:?}", plan.skipped);
        kit.run(plan, None, |_, _| {}).await
    })
}

/// Plays each file on a thread and a server of its own.
fn in_virtual_time(recordings: Vec<(String, Recording)>) -> Report {
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let play = |(file, recording): (String, Recording)| scope.spawn(move || play_file(&file, &recording));
        let files: Vec<_> = recordings.into_iter().map(play).collect();
        for file in files {
            report.merge(file.join().expect("no panic"));
        }
    });
    report
}

fn play_file(file: &str, recording: &Recording) -> Report {
    let mut report = Report::default();
    if recording.scenarios.is_empty() {
        return report;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
        let config = || Config::from_service(server.service());
        let Kit { profile, limits, .. } = ours::kit();
        let player = Player::connect_with(&config(), profile, limits).await.expect("a player");
        player.create_nodes(&recording.nodes).await.expect("Nodes");
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        let controllers =
            Box::pin(endpoint_controller_manager::run(config(), ours::settings(Mode::Plain), stop.clone()));
        tasks.spawn(async move { controllers.await.expect("the controllers run until they are stopped") });
        player.wait_for_controllers().await.expect("the controllers start");
        report.add(file, player.play_file(file, &recording.scenarios, |_| {}).await);
        stop.cancel();
        tasks.join_next().await.expect("the controllers").expect("no panic");
    });
    report
}
