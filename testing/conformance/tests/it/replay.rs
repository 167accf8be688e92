//! Plays all recordings. For the environment variables, see the README of this crate.
//!
//! The controllers of this repository play in virtual time, in the process of the test: what they see between two
//! operations does not depend on the machine. Programs play in real time, over HTTP.

use std::sync::Arc;

use kube_endpoints_conformance::{Plan, Recording, Report, Target};

use crate::ours;

#[test]
fn the_controllers_do_what_was_recorded() {
    let recordings = Recording::builtin().expect("the recordings are valid");
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let only: Vec<&str> = only.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let selects = |key: &str| only.is_empty() || only.iter().any(|part| key.contains(part));
    let target = if ours::program().is_some() { Target::Embedded } else { Target::InProcess };
    let plan = ours::kit(target.clone()).plan(recordings, Vec::new(), selects);
    assert!(plan.skipped.is_empty(), "{:?}", plan.skipped);
    let report = match target {
        Target::InProcess => in_virtual_time(plan.recordings),
        _ => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
            runtime.block_on(Arc::new(ours::kit(target)).run(plan, None, |_, _| {}))
        }
    };
    assert!(report.played() > 0, "CONFORMANCE_ONLY matches no scenario");
    assert!(report.is_good(), "differences from the recordings:\n{report}");
    eprintln!("{report}");
}

/// Plays each file on a thread of its own, since a runtime with virtual time has one.
fn in_virtual_time(recordings: Vec<(String, Recording)>) -> Report {
    let play = |file| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let plan = Plan { recordings: vec![file], ..Plan::default() };
        let kit = Arc::new(ours::kit(Target::InProcess));
        runtime.expect("a runtime").block_on(kit.run(plan, None, |_, _| {}))
    };
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let files: Vec<_> = recordings.into_iter().map(|file| scope.spawn(move || play(file))).collect();
        for file in files {
            report.entries.extend(file.join().expect("no panic").entries);
        }
    });
    report
}
