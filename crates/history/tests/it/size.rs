//! The size of a day in a busy cluster.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube_endpoints_history::{Archive, Kind, Select};

use crate::apps::{Cluster, start};
use crate::recording::begin;

#[test]
fn a_day_of_160_flips_a_second_takes_at_most_500_mebibytes() {
    const SECONDS: u64 = 30;
    let mut cluster = Cluster::new(1_000, 20);
    let (mut encoder, mut file) = begin(start(), &[], cluster.objects());
    let state = file.len();
    for _ in 0..SECONDS {
        cluster.second(|seen, author, object| encoder.put(seen, Some(author), object));
        encoder.flush(&mut file).expect("memory");
    }
    let changes = file.len() - state;
    let mut ended = Vec::new();
    encoder.end_segment(&mut ended).expect("memory");
    // One segment an hour, with the state at its beginning.
    let per_flip = changes + ended.len();
    let day = 24 * state as u64 + per_flip as u64 * 86_400 / SECONDS;
    assert!(day <= 500 << 20, "{} MiB", day >> 20);

    let mut archive = Archive::from_buffers([[file, ended].concat()]).expect("a history");
    let replay = archive.replay(Select::All, Timestamp::MAX).expect("a state");
    let count: BTreeMap<Kind, usize> = replay.objects().fold(BTreeMap::new(), |mut count, object| {
        *count.entry(object.kind()).or_default() += 1;
        count
    });
    assert_eq!(count.into_values().collect::<Vec<_>>(), [1_000, 20_000, 1_000, 1_000, 1_000]);
}
