//! Plays all recordings. For the environment variables, see the README of this crate.
//!
//! The name makes it the first test to start: a program takes as long for it as for all others together.

use std::sync::Arc;

use kube_endpoints_conformance::{Plan, Recording, Report};

use crate::ours;

#[test]
fn the_controllers_do_what_was_recorded() {
    let recordings = Recording::builtin().expect("the recordings are valid");
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let only: Vec<&str> = only.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let selects = |key: &str| only.is_empty() || only.iter().any(|part| key.contains(part));
    let plan = ours::kit().plan(recordings, Vec::new(), selects);
    assert!(plan.skipped.is_empty(), "{:?}", plan.skipped);
    let report = if ours::program().is_some() { play(plan.recordings) } else { play_apart(plan.recordings) };
    assert!(report.played() > 0, "CONFORMANCE_ONLY matches no scenario");
    assert!(report.is_good(), "differences from the recordings:\n{report}");
    eprintln!("{report}");
}

fn play(recordings: Vec<(String, Recording)>) -> Report {
    let plan = Plan { recordings, ..Plan::default() };
    ours::block_on(Arc::new(ours::kit()).run(plan, None, |_, _| {}))
}

/// Plays each file on a thread of its own, since a runtime with virtual time has one.
fn play_apart(recordings: Vec<(String, Recording)>) -> Report {
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let files: Vec<_> = recordings.into_iter().map(|file| scope.spawn(|| play(vec![file]))).collect();
        for file in files {
            report.entries.extend(file.join().expect("no panic").entries);
        }
    });
    report
}
