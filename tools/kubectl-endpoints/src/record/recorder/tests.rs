//! Tests of the writer, with files.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use kube_endpoint_model::{Labels, ObjectKey, Pod};
use kube_endpoints_history::{Archive, Change, Kind, Recorded, Select, What};
use tempfile::TempDir;

use super::*;

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
    let object = Recorded::from(Arc::new(pod(name, state)));
    Message::Put { seen: time(seconds), author: None, object, is_new: state == 0 }
}

fn recorder(limit: u64) -> (Recorder, TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.history");
    (Recorder::new(Encoder::new("test", []).unwrap(), limit), folder, path)
}

fn changes(path: &Path) -> Vec<Change> {
    let mut archive = Archive::open(path).unwrap();
    let mut replay = archive.replay(Select::All, Timestamp::MIN).unwrap();
    std::iter::from_fn(|| replay.next_change().unwrap()).collect()
}

#[test]
fn state_before_the_beginning_is_no_change() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.apply(put(0, "web-0", 0)).unwrap();
    recorder.begin(time(1), &path).unwrap();
    recorder.apply(put(2, "web-0", 1)).unwrap();
    recorder.apply(put(3, "web-1", 0)).unwrap();
    let key = ObjectKey::new("shop", "web-0");
    recorder.apply(Message::Removed { seen: time(4), kind: Kind::Pod, key }).unwrap();
    recorder.finish(time(9)).unwrap();
    assert_eq!((recorder.changes, recorder.objects), (3, 2));
    assert_eq!(recorder.length(), fs::metadata(&path).unwrap().len());
    let changes = changes(&path);
    assert!(matches!(&changes[0].what, What::Put { before: Some(_), .. }), "{changes:?}");
    assert_eq!(changes.iter().map(|change| change.seen).collect::<Vec<_>>(), [time(2), time(3), time(4), time(9)]);
    let end = Gap { since: time(9), reason: "the recorder was stopped".into() };
    assert_eq!(changes[3].what, What::Gap(end), "the end is recorded");
}

#[test]
fn the_clock_may_be_set_back() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(100), &path).unwrap();
    recorder.apply(put(110, "web-0", 0)).unwrap();
    recorder.apply(put(50, "web-0", 1)).unwrap();
    recorder.finish(time(60)).unwrap();
    assert!(changes(&path).iter().all(|change| change.seen == time(110)));
}

#[test]
fn a_checkpoint_makes_changes_readable() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(0), &path).unwrap();
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
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(0), &path).unwrap();
    for hour in 0..3 {
        recorder.apply(put(3_600 * hour + 1_800, "web-0", hour.unsigned_abs())).unwrap();
        recorder.checkpoint(time(3_600 * (hour + 1))).unwrap();
    }
    recorder.finish(time(10_900)).unwrap();
    let archive = Archive::open(&path).unwrap();
    let headers: Vec<_> = archive.headers().map(|header| (header.started, header.continues)).collect();
    assert_eq!(headers, [(time(0), false), (time(3_600), true), (time(7_200), true), (time(10_800), true)]);
    assert_eq!(changes(&path).len(), 4);
}

#[test]
fn an_existing_file_is_kept() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    fs::write(&path, "mine").unwrap();
    let error = recorder.begin(time(0), &path).unwrap_err();
    assert!(error.to_string().starts_with("cannot write "), "{error:#}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn nothing_is_written_after_a_failed_write() {
    let (mut recorder, _folder, path) = recorder(1 << 20);
    recorder.begin(time(0), &path).unwrap();
    let length = recorder.length();
    // Writes to it fail.
    recorder.file = Some(File::open(&path).unwrap());
    recorder.apply(put(1, "web-0", 0)).unwrap();
    recorder.checkpoint(time(2)).unwrap_err();
    assert!(recorder.is_at_limit());
    recorder.file = Some(File::options().append(true).open(&path).unwrap());
    recorder.finish(time(3)).unwrap();
    assert_eq!((recorder.length(), fs::metadata(&path).unwrap().len()), (length, length));
}

#[test]
fn a_state_beyond_the_limit_makes_no_file() {
    let (mut recorder, _folder, path) = recorder(64);
    recorder.apply(put(0, "web-0", 0)).unwrap();
    let error = recorder.begin(time(0), &path).unwrap_err().to_string();
    assert!(error.ends_with(" bytes, more than --max-size") && !path.exists(), "{error}");
}

#[test]
fn the_file_is_never_longer_than_its_limit() {
    for limit in [4 << 10, 40 << 10, 1 << 20] {
        // With a checkpoint after each change, or none but for full frames.
        for every in [1, usize::MAX] {
            let (mut recorder, _folder, path) = recorder(limit);
            recorder.begin(time(0), &path).unwrap();
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
                assert!(length > limit / 2 && read == number + 1, "{length} of {limit}, {read} of {number} changes");
            }
        }
    }
}
