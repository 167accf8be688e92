//! Smoke test of `testing/fuzz/`: runs the functions of its targets with their seeds, intact and corrupted.

#[expect(unreachable_pub, reason = "belongs to another crate")]
#[path = "../../../../testing/fuzz/src/decoding/mod.rs"]
pub(crate) mod targets;

use std::{collections::BTreeSet, fs};

use kube_endpoints_testing::{corrupt, repository::root};
use rand::{SeedableRng as _, rngs::StdRng};

use self::targets::{TARGETS, seeds};

/// Number of corrupted variants per seed.
const VARIANTS_PER_SEED: u64 = 100;

#[expect(clippy::print_stdout, reason = "names the seed, shown if its check fails")]
#[test]
fn seeds_are_accepted_and_corrupted_seeds_do_not_panic() {
    let mut rejected = 0;
    for seed in seeds::of(&root().join("testing/conformance/fixtures")).expect("the recordings") {
        let (_, check) = TARGETS.iter().find(|(name, _)| *name == seed.target).expect("a target of every seed");
        println!("{}/{}", seed.target, seed.name);
        assert!(check(&seed.bytes), "the seed is rejected");
        for random in 0..VARIANTS_PER_SEED {
            let mut bytes = seed.bytes.clone();
            corrupt(&mut bytes, &mut StdRng::seed_from_u64(random));
            rejected += usize::from(!check(&bytes));
        }
    }
    assert!(rejected > 0, "no damaged seed was rejected");
}

/// `kube-endpoints-history` runs its own targets.
#[test]
fn every_fuzz_target_is_run() {
    let files = fs::read_dir(root().join("testing/fuzz/fuzz_targets")).expect("the targets");
    let files: BTreeSet<_> = files.map(|it| it.expect("a file").path().with_extension("")).collect();
    let files: BTreeSet<_> = files.iter().filter_map(|it| it.file_name()?.to_str()).collect();
    assert_eq!(files, TARGETS.iter().map(|(name, _)| *name).chain(["audit", "history"]).collect());
}
