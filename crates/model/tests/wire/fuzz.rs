//! A smoke of `fuzz/`: the seeds of its targets, whole and damaged, through the functions that its targets call.

#[path = "../../../wire/tests/it/broken.rs"]
mod broken;
#[expect(unreachable_pub, reason = "a crate of its own")]
#[path = "../../../../fuzz/src/lib.rs"]
pub(crate) mod targets;

use std::{collections::BTreeSet, fs, path::Path};

use rand::{SeedableRng as _, rngs::StdRng};

use self::targets::{TARGETS, seeds};

/// How often each seed is damaged.
const TIMES: u64 = 100;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[expect(clippy::print_stdout, reason = "shown where a check fails, which cannot say which seed it was given")]
#[test]
fn seeds_are_read_and_damaged_ones_never_panic() {
    let mut spoilt = 0;
    for seed in seeds::of(&root().join("conformance/fixtures")).expect("the recordings") {
        let (_, check) = TARGETS.iter().find(|(name, _)| *name == seed.target).expect("a target of every seed");
        println!("{}/{}", seed.target, seed.name);
        assert!(check(&seed.bytes), "as recorded");
        for random in 0..TIMES {
            let mut bytes = seed.bytes.clone();
            broken::damage(&mut bytes, &mut StdRng::seed_from_u64(random));
            spoilt += usize::from(!check(&bytes));
        }
    }
    assert!(spoilt > 0, "some damage was noticed");
}

#[test]
fn every_target_is_smoked() {
    let files = fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the targets");
    let files: BTreeSet<_> = files.map(|it| it.expect("a file").path().with_extension("")).collect();
    let files: BTreeSet<_> = files.iter().filter_map(|it| it.file_name()?.to_str()).collect();
    assert_eq!(files, TARGETS.map(|(name, _)| name).into());
}
