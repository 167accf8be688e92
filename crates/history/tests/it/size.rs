//! The size of a day in a busy cluster.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::Text;
use kube_endpoints_history::{Author, Encoder, Kind, Select};

use crate::apps::{App, Numbers, start};

#[test]
fn a_day_of_160_flips_a_second_takes_at_most_500_mebibytes() {
    const FLIPS: u64 = 160;
    const SECONDS: u64 = 30;
    let mut numbers = Numbers(1);
    let mut apps: Vec<App> = (0..1_000).map(|at| App::new(at, 20, &mut numbers)).collect();
    let mut encoder = Encoder::new("test", []).expect("memory");
    apps.iter().flat_map(App::objects).for_each(|object| encoder.put(start(), None, object));
    let mut file = Vec::new();
    encoder.begin_segment(start(), &mut file).expect("memory");
    let state = file.len();
    let author = |manager: &str, now: Timestamp| {
        let time = Timestamp::from_second(now.as_second()).ok();
        Author { manager: manager.into(), user: Text::new(), time }
    };
    let (mut now, mut version) = (start(), 1_u64 << 30);
    for _ in 0..SECONDS {
        for _ in 0..FLIPS {
            now +=
                SignedDuration::from_micros(1_000_000 / FLIPS.cast_signed() - 40 + (numbers.next() % 80).cast_signed());
            let app = &mut apps[(numbers.next() % 1_000) as usize];
            let [pod, slice, endpoints] = app.flip(now, &mut version, &mut numbers);
            encoder.put(now, Some(&author("kubelet", now)), pod);
            encoder.put(now, Some(&author("kube-controller-manager", now)), slice);
            encoder.put(now, Some(&author("kube-controller-manager", now)), endpoints);
        }
        encoder.flush(&mut file).expect("memory");
    }
    let changes = file.len() - state;
    let mut ended = Vec::new();
    encoder.end_segment(&mut ended).expect("memory");
    // One segment an hour, with the state at its beginning.
    let per_flip = changes + ended.len();
    let day = 24 * state as u64 + per_flip as u64 * 86_400 / SECONDS;
    assert!(day <= 500 << 20, "{} MiB", day >> 20);

    let mut archive = kube_endpoints_history::Archive::from_buffers([[file, ended].concat()]).expect("a history");
    let replay = archive.replay(Select::All, Timestamp::MAX).expect("a state");
    let count: BTreeMap<Kind, usize> = replay.objects().fold(BTreeMap::new(), |mut count, object| {
        *count.entry(object.kind()).or_default() += 1;
        count
    });
    assert_eq!(count.into_values().collect::<Vec<_>>(), [1_000, 20_000, 1_000, 1_000]);
}
