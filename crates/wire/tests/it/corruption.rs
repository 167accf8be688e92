//! Decoding of corrupted bytes returns errors or other objects and never panics. A test of `kube-endpoint-model` runs
//! the targets of `testing/fuzz/`.

use kube_endpoints_testing::{corrupt, fixture};
use kube_wire::Encoding;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use rstest::rstest;

use crate::{
    fixtures::{list, suffix, watch},
    meta::{Endpoints, Kind, Nodes, Pods, Services, Slices},
};

fn check<K: Kind>(encoding: Encoding) {
    let mut read = 0;
    for seed in 0..300 {
        let mut random = StdRng::seed_from_u64(seed);
        for what in ["list", "watch"] {
            let mut body = fixture(&format!("{}.{what}.{}", K::FILE, suffix(encoding)));
            // Longer bodies take more time and cover nothing new.
            body.truncate(20_000);
            corrupt(&mut body, &mut random);
            let chunks = body.chunks(random.random_range(1..5000));
            if what == "list" {
                assert!(list::<K>(encoding, chunks).is_err() || body.len() < 20_000, "seed {seed}");
            } else {
                read += watch::<K>(encoding, chunks).0.len();
            }
        }
    }
    assert!(read > 0, "no event was decoded");
}

#[rstest]
#[case::pods(check::<Pods>)]
#[case::services(check::<Services>)]
#[case::nodes(check::<Nodes>)]
#[case::slices(check::<Slices>)]
#[case::endpoints(check::<Endpoints>)]
fn corrupted_bytes_do_not_panic(
    #[case] check: fn(Encoding),
    #[values(Encoding::Json, Encoding::Protobuf)] encoding: Encoding,
) {
    check(encoding);
}
