//! Smoke test of the fuzz targets `history` and `audit` in `testing/fuzz/`: runs them with their seeds, intact and corrupted.

#[cfg(feature = "audit")]
#[expect(unreachable_pub, reason = "belongs to another crate")]
#[path = "../../../../testing/fuzz/src/audit.rs"]
mod audit;

#[expect(unreachable_pub, reason = "belongs to another crate")]
#[path = "../../../../testing/fuzz/src/history.rs"]
mod target;

use std::path::Path;

use kube_endpoints_testing::corrupt;
use rand::{SeedableRng as _, rngs::StdRng};

/// Number of corrupted variants per seed.
const VARIANTS_PER_SEED: u64 = 500;

#[test]
fn seeds_are_read_and_corrupted_seeds_do_not_panic() {
    let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testing/conformance/fixtures"));
    for seed in target::seeds(fixtures).expect("the recordings") {
        run(target::history, &seed, VARIANTS_PER_SEED);
    }
}

#[cfg(feature = "audit")]
#[test]
fn logs_are_read_and_corrupted_logs_do_not_panic() {
    for (_, log) in crate::audit::samples::all() {
        for length in [audit::AT_ONCE, 3] {
            run(audit::audit, &[&[length], &log[..]].concat(), VARIANTS_PER_SEED / 5);
        }
    }
}

/// Runs a target with a seed, and with corrupted variants.
fn run(target: fn(&[u8]) -> bool, seed: &[u8], variants: u64) {
    assert!(target(seed), "the seed is rejected");
    let mut rejected = 0;
    for random in 0..variants {
        let mut bytes = seed.to_vec();
        corrupt(&mut bytes, &mut StdRng::seed_from_u64(random));
        rejected += usize::from(!target(&bytes));
    }
    assert!(rejected > 0, "no damaged seed was rejected");
}
