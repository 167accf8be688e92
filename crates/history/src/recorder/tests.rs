//! Tests of the recorder, with files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kube_endpoint_model::{Labels, Pod};
use kube_informer::InformerMetricsProvider as _;
use kube_wire::Resource;
use rstest::rstest;
use tempfile::TempDir;

use super::*;
use crate::{Archive, Change, Gap, Recorded, Select, What};

mod rotating;

fn time(seconds: i64) -> Timestamp {
    "2026-11-27T14:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
}

/// A Pod whose label is hard to compress.
fn pod(name: &str, state: u64) -> Pod {
    let noise = format!("{:016x}", state.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let labels = Labels::from_iter([("state", noise.as_str())]);
    Pod { namespace: "shop".into(), name: name.into(), resource_version: state.into(), labels, ..Pod::default() }
}

fn put(seconds: i64, name: &str, state: u64) -> Message {
    Message::put(time(seconds), None, Arc::new(pod(name, state)).into(), false)
}

fn watched(seconds: i64, what: What) -> Message {
    Message { change: Change { seen: time(seconds), author: None, what }, is_listed: false }
}

fn removed(seconds: i64, name: &str, state: u64) -> Message {
    watched(seconds, What::Removed(Arc::new(pod(name, state)).into()))
}

fn recorder(limit: u64) -> (Recorder, TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.history");
    (recorder_to(OneFile::new(&path, limit)), folder, path)
}

fn recorder_to(store: impl Store + 'static) -> Recorder {
    Recorder::new(Encoder::new("test", []).unwrap(), store)
}

fn changes(path: &Path) -> Vec<Change> {
    let mut archive = Archive::open(path).unwrap();
    let mut replay = archive.replay(Select::All, Timestamp::MIN).unwrap();
    std::iter::from_fn(|| replay.next_change().unwrap()).collect()
}

fn end(path: &Path) -> Option<Timestamp> {
    Archive::open(path).unwrap().end().unwrap()
}

#[test]
fn state_before_the_beginning_is_no_change() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.apply(put(0, "web-0", 0)).unwrap();
    recorder.begin(time(1)).unwrap();
    recorder.apply(put(2, "web-0", 1)).unwrap();
    recorder.apply(put(3, "web-1", 0)).unwrap();
    recorder.apply(removed(4, "web-0", 2)).unwrap();
    recorder.finish(time(9)).unwrap();
    assert_eq!((recorder.changes(), recorder.objects()), (3, 2));
    assert_eq!(recorder.length(), fs::metadata(&path).unwrap().len());
    let changes = changes(&path);
    assert!(matches!(&changes[0].what, What::Put { before: Some(_), .. }), "{changes:?}");
    assert_eq!(changes.iter().map(|change| change.seen).collect::<Vec<_>>(), [time(2), time(3), time(4)]);
    assert_eq!(end(&path), Some(time(9)), "the end is recorded");
}

#[test]
fn the_clock_may_be_set_back() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(100)).unwrap();
    recorder.apply(put(110, "web-0", 0)).unwrap();
    recorder.apply(put(50, "web-0", 1)).unwrap();
    recorder.finish(time(60)).unwrap();
    assert!(changes(&path).iter().all(|change| change.seen == time(110)));
}

#[test]
fn a_checkpoint_makes_changes_readable() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(0)).unwrap();
    recorder.apply(put(1, "web-0", 0)).unwrap();
    assert_eq!(changes(&path).len(), 0);
    recorder.checkpoint(time(2)).unwrap();
    assert_eq!(changes(&path).len(), 1);
    let length = recorder.length();
    recorder.checkpoint(time(3)).unwrap();
    assert_eq!(recorder.length(), length, "nothing has changed");
}

#[test]
fn a_segment_lasts_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut recorder = recorder_to(open_folder(path, 1 << 20));
    recorder.begin(time(0)).unwrap();
    for hour in 0..3 {
        recorder.apply(put(3_600 * hour + 1_800, "web-0", hour.unsigned_abs())).unwrap();
        recorder.checkpoint(time(3_600 * (hour + 1))).unwrap();
    }
    recorder.finish(time(10_900)).unwrap();
    let archive = Archive::open(path).unwrap();
    let headers: Vec<_> = archive.headers().map(|header| (header.started, header.continues)).collect();
    let expected = [(0, None), (3_600, Some(0)), (7_200, Some(3_600)), (10_800, Some(7_200))];
    assert_eq!(headers, expected.map(|(started, before)| (time(started), before.map(time))));
    assert_eq!(changes(path).len(), 3);
}

#[rstest]
#[case::few_records(999, 1)]
#[case::many_records(1_000, 2)]
fn a_segment_of_one_file_lasts_longer_if_it_has_few_records(#[case] records: u64, #[case] segments: usize) {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(0)).unwrap();
    for state in 0..records {
        recorder.apply(put(1, "web-0", state)).unwrap();
    }
    recorder.checkpoint(time(3_599)).unwrap();
    assert_eq!(Archive::open(&path).unwrap().headers().len(), 1);
    recorder.checkpoint(time(3_600)).unwrap();
    assert_eq!(Archive::open(&path).unwrap().headers().len(), segments);
}

#[test]
fn an_existing_file_is_kept() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    fs::write(&path, "mine").unwrap();
    assert_eq!(recorder.begin(time(0)).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

/// A folder to which writes fail while a switch is on, after the first half of the bytes.
struct Broken(Folder, Arc<AtomicBool>);

impl Store for Broken {
    fn begin(&mut self, started: Timestamp, bytes: u64, write: WriteState<'_>) -> io::Result<()> {
        self.0.begin(started, bytes, write)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.1.load(Ordering::Relaxed) {
            self.0.append(&bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.append(bytes)
    }

    fn sync(&mut self, now: Timestamp) -> io::Result<()> {
        self.0.sync(now)
    }

    fn space(&self) -> Space {
        self.0.space()
    }

    fn segment_limits(&self, state: u64) -> SegmentLimits {
        self.0.segment_limits(state)
    }
}

#[test]
fn after_a_failed_write_another_recorder_goes_on_with_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let is_broken = Arc::new(AtomicBool::new(false));
    let open = || Broken(open_folder(folder.path(), 1 << 20), Arc::clone(&is_broken));
    let mut recorder = recorder_to(open());
    recorder.begin(time(0)).unwrap();
    recorder.apply(put(1, "web-0", 0)).unwrap();
    recorder.checkpoint(time(2)).unwrap();
    is_broken.store(true, Ordering::Relaxed);
    recorder.apply(put(3, "web-0", 1)).unwrap();
    assert_eq!(recorder.checkpoint(time(4)).unwrap_err().kind(), io::ErrorKind::StorageFull);
    let length = recorder.length();
    assert!(recorder.is_at_limit());
    recorder.finish(time(5)).unwrap();
    assert_eq!(recorder.length(), length, "nothing is written after a part of a frame");
    drop(recorder);

    is_broken.store(false, Ordering::Relaxed);
    let mut recorder = recorder_to(open());
    recorder.apply(put(8, "web-0", 2)).unwrap();
    recorder.begin(time(9)).unwrap();
    recorder.apply(put(10, "web-1", 0)).unwrap();
    recorder.finish(time(11)).unwrap();
    let changes = changes(folder.path());
    assert_eq!(changes.iter().map(|change| change.seen).collect::<Vec<_>>(), [time(1), time(9), time(9), time(10)]);
    assert!(matches!(&changes[1].what, What::Gap(gap) if gap.since == time(1)), "{changes:?}");
    assert!(matches!(&changes[2].what, What::Put { before: Some(_), .. }), "{changes:?}");
}

#[test]
fn a_state_beyond_the_limit_makes_no_file() {
    let (mut recorder, _folder, path) = recorder(64);
    recorder.apply(put(0, "web-0", 0)).unwrap();
    let error = recorder.begin(time(0)).unwrap_err().to_string();
    assert!(error.ends_with(" bytes, more than the limit of 64") && !path.exists(), "{error}");
}

#[test]
fn the_file_is_never_longer_than_its_limit() {
    for limit in [4 << 10, 40 << 10, 200 << 10] {
        // With a checkpoint after each change, or none but for full frames.
        for every in [1, usize::MAX] {
            let (mut recorder, _folder, path) = recorder(limit);
            recorder.begin(time(0)).unwrap();
            let mut number = 0;
            while !recorder.is_at_limit() {
                let at = i64::try_from(number).unwrap() / 64;
                recorder.apply(put(at, &format!("web-{}", number % 7), number as u64)).unwrap();
                if number % every == 0 {
                    recorder.checkpoint(time(at)).unwrap();
                }
                number += 1;
            }
            recorder.finish(time(1_000_000)).unwrap();
            let length = fs::metadata(&path).unwrap().len();
            assert!(length <= limit && recorder.length() == length, "{length} of {limit}");
            let read = changes(&path).len();
            if every == 1 {
                assert!(length > limit / 2 && read == number, "{length} of {limit}, {read} of {number} changes");
            }
        }
    }
}

fn open_folder(path: &Path, limit: u64) -> Folder {
    Folder::open(path, limit, SignedDuration::from_hours(24)).unwrap()
}

#[test]
fn quiet_times_are_known_and_cheap() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(0)).unwrap();
    recorder.apply(put(1, "web-0", 0)).unwrap();
    recorder.checkpoint(time(1)).unwrap();
    let before = recorder.length();
    for second in 2..3_600 {
        recorder.checkpoint(time(second)).unwrap();
    }
    assert_eq!(end(&path), Some(time(3_591)));
    let took = recorder.length() - before;
    // A day: less than 400 KiB.
    assert!(took < 400 * 1_024 / 24, "{took} bytes an hour");
    assert_eq!(changes(&path).len(), 1);
}

#[rstest]
#[case::newer_change(put(1, "web-0", 8), 8)]
#[case::older_change(put(1, "web-0", 6), 7)]
#[case::older_deletion(removed(1, "web-0", 6), 7)]
#[case::later(put(60, "web-0", 6), 6)]
#[case::of_a_restored_server(Message::put(time(1), None, Arc::new(pod("web-0", 6)).into(), true), 6)]
fn events_that_the_first_state_contains_are_ignored(#[case] message: Message, #[case] expected: u64) {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.apply(put(0, "web-0", 7)).unwrap();
    recorder.begin(time(0)).unwrap();
    recorder.apply(message).unwrap();
    recorder.finish(time(100)).unwrap();
    let mut archive = Archive::open(&path).unwrap();
    let replay = archive.replay(Select::All, time(100)).unwrap();
    let states: Vec<u64> = replay.objects().map(Recorded::version).collect();
    assert_eq!(states, [expected]);
}

#[test]
fn gaps_are_recorded() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(0)).unwrap();
    let gap = Gap { since: time(1), reason: "pods were listed again".into() };
    recorder.apply(watched(5, What::Gap(gap.clone()))).unwrap();
    recorder.finish(time(6)).unwrap();
    assert_eq!((recorder.gaps(), changes(&path)[0].what.clone()), (1, What::Gap(gap)));
}

#[test]
fn no_time_is_recorded_while_a_watch_is_interrupted() {
    let (folder, gaps) = (tempfile::tempdir().unwrap(), Gaps::new(drop));
    let watches = [("pods", "Pod"), ("services", "Service")]
        .map(|(plural, kind)| gaps.informer(&Resource::namespaced("", "v1", plural, kind)));
    watches[0].stored(&"7".into(), 0);
    let contact = kube_ambient::now();
    let after = |seconds| contact + SignedDuration::from_secs(seconds);
    let mut recorder = recorder_to(open_folder(folder.path(), 1 << 20)).with_watches(gaps);
    recorder.begin(contact).unwrap();
    (1..7_200).for_each(|second| recorder.checkpoint(after(second)).unwrap());
    let end = end(folder.path()).unwrap().duration_since(contact).as_secs();
    assert!((100..=120).contains(&end), "the end is known to be {end} s after the last contact");
    recorder.finish(after(7_200)).unwrap();
    let changes = changes(folder.path());
    let [Change { seen, what: What::Gap(gap), .. }] = &changes[..] else { panic!("{changes:?}") };
    assert!(gap.since <= contact && seen.duration_since(contact).as_secs() >= 7_199, "{changes:?}");
    assert_eq!(gap.reason, "the watch of pods was interrupted");
}
