//! Known defects, of Kubernetes and of these controllers, are found.

use std::time::Duration;

use kube_ambient::{Defect, enable};
use kube_simulation::endpoints::scenario::random;

const ALL: &[Defect] = &[
    Defect::LongRetryAfter, Defect::AlteredWriteRepeated, Defect::NewNameForRetry, Defect::TerminatingMirrorIgnored,
    Defect::OwnWritesNotCached, Defect::EqualVersionsEqualContent, Defect::WatchNotVerified, Defect::LeaderWithOldCaches,
    Defect::NoOpUpdateStaysStale, Defect::GhostSlice, Defect::UntrackedMirrorIgnored,
];

#[test]
#[ignore]
fn survey() {
    let n: u64 = std::env::var("N").unwrap().parse().unwrap();
    let from: u64 = std::env::var("FROM").unwrap_or("0".into()).parse().unwrap();
    let only = std::env::var("ONLY").unwrap_or_default();
    for &defect in ALL {
        let name = format!("{defect:?}");
        if !only.is_empty() && !only.contains(&name) { continue; }
        for seed in from..n {
            let _defect = enable(defect);
            let outcome = random(seed).run();
            if let Some(v) = outcome.violations.first() {
                println!("{name} | {seed} | {v}");
                break;
            }
        }
        println!("{name} done");
    }
    let _ = Duration::ZERO;
}

#[test]
#[ignore]
fn baseline() {
    let n: u64 = std::env::var("N").unwrap().parse().unwrap();
    let from: u64 = std::env::var("FROM").unwrap_or("0".into()).parse().unwrap();
    for seed in from..n {
        let outcome = random(seed).run();
        if !outcome.violations.is_empty() {
            println!("BASE | {seed} | {:?}", outcome.violations);
        }
    }
}
