//! Plays all recordings on a cluster with the controllers. For the environment variables, see the README of this crate.

mod ours;

use std::sync::Arc;

use kube_endpoints_conformance::Recording;

#[tokio::test(flavor = "multi_thread")]
async fn the_controllers_do_what_was_recorded() {
    let options = ours::options();
    let kit = Arc::new(ours::kit(&options));
    let recordings = Recording::builtin().expect("the recordings are valid");
    let plan = kit.plan(recordings, Vec::new(), |key| options.includes_key(key));
    assert!(plan.skipped.is_empty(), "{:?}", plan.skipped);
    let shared = kit.start_shared().await.expect("the cluster starts");
    let report = kit.run(plan, shared, |_, _| {}).await;
    assert!(report.played() > 0, "CONFORMANCE_ONLY matches no scenario");
    assert!(report.is_good(), "differences from the recordings:\n{report}");
    eprintln!("{report}");
    eprintln!("{}", report.writes);
}
