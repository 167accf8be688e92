//! Smoke test of the fuzz target `history` in `testing/fuzz/`: runs it with its seeds, intact and corrupted.

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
        assert!(target::history(&seed), "the seed is rejected");
        let mut rejected = 0;
        for random in 0..VARIANTS_PER_SEED {
            let mut bytes = seed.clone();
            corrupt(&mut bytes, &mut StdRng::seed_from_u64(random));
            rejected += usize::from(!target::history(&bytes));
        }
        assert!(rejected > 0, "no damaged seed was rejected");
    }
}
