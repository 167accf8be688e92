//! Files that no recorder has written.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::Pod;
use kube_endpoints_history::{Archive, Encoder, ReadError, Recorded, Select, What};
use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;

use crate::frames::{announcing, compressed};
use crate::recording::{self, record, steps};

/// Returns the reasons of the gaps.
fn read_all(files: Vec<Vec<u8>>) -> Result<Vec<String>, ReadError> {
    let mut archive = Archive::from_buffers(files)?;
    let mut replay = archive.replay(Select::All, Timestamp::MIN)?;
    let mut gaps = Vec::new();
    while let Some(change) = replay.next_change()? {
        gaps.extend(if let What::Gap(gap) = change.what { Some(gap.reason.to_string()) } else { None });
    }
    Ok(gaps)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_cause_no_panic(
        steps in steps(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut files = record(&steps).files;
        for (at, byte) in damage {
            let at = at.index(files[0].len());
            files[0][at] = byte;
        }
        let _ = read_all(files);
    }

    #[test]
    fn reordered_files_cause_no_panic(steps in steps(), (from, to) in any::<(prop::sample::Index, prop::sample::Index)>()) {
        let mut files = record(&steps).files;
        let (from, to) = (from.index(files[0].len()), to.index(files[0].len()));
        files[0].rotate_left(from);
        files[0].truncate(to);
        let _ = read_all(files);
    }
}

#[rstest]
#[case::empty(Vec::new(), None)]
#[case::text(b"apiVersion: v1\nkind: List\nitems: []\n".to_vec(), Some("memory is not a history file"))]
#[case::other_content(compressed(b"hello"), Some("memory is not a history file"))]
#[case::cut_off_at_once(announcing(1 << 30), Some("memory is not a history file"))]
#[case::newer(
    compressed(b"\x01kube-endpoints history\x02"),
    Some("memory has format 2, and this program reads up to 1: use a newer version")
)]
fn foreign_files(#[case] file: Vec<u8>, #[case] expected: Option<&str>) {
    let result = read_all(vec![file]);
    assert_eq!(result.err().map(|error| error.to_string()).as_deref(), expected);
}

#[test]
fn a_frame_that_claims_a_terabyte_is_not_believed() {
    let mut file = record(&[]).files.remove(0);
    let offset = file.len();
    // A header of Zstandard with an eight-byte content size.
    let claim = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1_u64 << 40).to_le_bytes(), &[1, 0, 0]].concat();
    file.extend([announcing(u32::try_from(claim.len()).unwrap()), claim].concat());
    let expected =
        format!("memory is damaged at offset {offset}: a frame claims 1099511627776 bytes, more than 8388608");
    assert_eq!(read_all(vec![file]).unwrap(), [expected]);
}

#[test]
fn a_wrong_byte_is_found_by_its_checksum() {
    let mut file = record(&[]).files.remove(0);
    let at = file.len() - 6;
    file[at] ^= 1;
    assert!(matches!(read_all(vec![file]), Err(ReadError::Foreign { .. } | ReadError::Damaged { .. })));
}

#[test]
fn a_folder_is_read_in_order_and_other_files_are_not() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.history"), &record(&[]).files[0]).unwrap();
    fs::write(folder.path().join("notes.txt"), "not a history").unwrap();
    assert_eq!(Archive::open(folder.path()).unwrap().headers().len(), 1);
    let missing = Archive::open(Path::new("/nonexistent/history")).err().unwrap().to_string();
    assert_eq!(missing, "cannot read /nonexistent/history");
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

/// Returns the state of a Pod at a second.
fn pod(second: i64) -> Recorded {
    let resource_version = second.unsigned_abs().into();
    Arc::new(Pod { namespace: "shop".into(), name: "web-0".into(), resource_version, ..Pod::default() }).into()
}

/// Writes a change a second into frames of their own. Returns the frames.
fn put_frames(encoder: &mut Encoder, seconds: Range<i64>, file: &mut Vec<u8>) -> Vec<Range<usize>> {
    let mut frames = Vec::new();
    for second in seconds {
        let start = file.len();
        encoder.put(at(second), None, pod(second));
        encoder.flush(file).expect("memory");
        frames.push(start..file.len());
    }
    frames
}

/// Begins the recording of a Pod.
fn begin(second: i64) -> (Encoder, Vec<u8>) {
    recording::begin(at(second), &[], [pod(second)])
}

/// Returns the seconds of the changes, and the gaps with their beginnings.
fn changes(file: &[u8]) -> (Vec<i64>, Vec<(i64, String)>) {
    selected_changes(file, Select::All)
}

fn selected_changes(file: &[u8], select: Select) -> (Vec<i64>, Vec<(i64, String)>) {
    let mut archive = Archive::from_buffers([file.to_vec()]).expect("a history");
    let mut replay = archive.replay(select, at(1)).expect("a state");
    let (mut seconds, mut gaps) = (Vec::new(), Vec::new());
    while let Some(change) = replay.next_change().expect("a history") {
        match change.what {
            What::Gap(gap) => gaps.push((gap.since.as_second(), gap.reason.to_string())),
            _ => seconds.push(change.seen.as_second()),
        }
    }
    (seconds, gaps)
}

/// Returns two segments, the frames of the first, and the offset of the second.
fn two_segments() -> (Vec<u8>, Vec<Range<usize>>, usize) {
    let (mut encoder, mut file) = begin(1);
    let frames = put_frames(&mut encoder, 2..6, &mut file);
    encoder.end_segment(&mut file).expect("memory");
    let second = file.len();
    encoder.begin_segment(at(8), &mut file).expect("memory");
    put_frames(&mut encoder, 9..11, &mut file);
    encoder.end_segment(&mut file).expect("memory");
    (file, frames, second)
}

#[test]
fn the_next_segment_follows_a_damaged_frame() {
    let (mut file, frames, _) = two_segments();
    assert_eq!(changes(&file), (vec![2, 3, 4, 5, 9, 10], vec![]));
    let damaged = &frames[2];
    file[damaged.end - 1] ^= 1;
    let (seconds, gaps) = changes(&file);
    assert_eq!(seconds, [2, 3, 8, 9, 10], "the state of the next segment has changed");
    let [(3, reason)] = &gaps[..] else { panic!("{gaps:?}") };
    assert!(reason.starts_with(&format!("memory is damaged at offset {}: ", damaged.start)), "{reason}");
}

#[rstest]
#[case::first(0, &[9, 10], &[])]
#[case::second(1, &[2, 3, 4, 5], &[5])]
fn the_segment_beside_a_damaged_header_is_read(
    #[case] damaged: usize,
    #[case] expected: &[i64],
    #[case] since: &[i64],
) {
    let (mut file, _, second) = two_segments();
    file[[0, second][damaged] + 20] ^= 1;
    let (seconds, gaps) = changes(&file);
    assert_eq!((&*seconds, gaps.into_iter().map(|(since, _)| since).collect::<Vec<_>>()), (expected, since.to_vec()));
}

/// Where the last segment is damaged, there is no next one to go on with: what was recorded before is read all the
/// same.
#[rstest]
#[case::content(|frame: &Range<usize>| frame.end - 1)]
#[case::length(|frame: &Range<usize>| frame.start)]
fn what_precedes_damage_in_the_last_segment_is_read(
    #[case] damaged: fn(&Range<usize>) -> usize,
    #[values(Select::All, Select::Namespace("shop".into()))] select: Select,
    #[values(true, false)] is_complete: bool,
) {
    let (mut encoder, mut file) = begin(1);
    let frames = put_frames(&mut encoder, 2..6, &mut file);
    if is_complete {
        encoder.end_segment(&mut file).unwrap();
    }
    file[damaged(&frames[2])] ^= 1;
    let (seconds, gaps) = selected_changes(&file, select);
    // The index of a complete segment has the lengths.
    if is_complete && damaged(&frames[2]) == frames[2].start {
        return assert_eq!((seconds, gaps), (vec![2, 3, 4, 5], vec![]));
    }
    assert_eq!(seconds, [2, 3]);
    let [(3, reason)] = &gaps[..] else { panic!("{gaps:?}") };
    assert!(reason.starts_with(&format!("memory is damaged at offset {}: ", frames[2].start)), "{reason}");
}

/// A folder can have more files than a process may open.
#[cfg(target_os = "linux")]
#[test]
fn one_file_is_open_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..20 {
        let (mut encoder, mut file) = begin(100 * number + 1);
        put_frames(&mut encoder, 100 * number + 2..100 * number + 4, &mut file);
        encoder.end_segment(&mut file).unwrap();
        fs::write(folder.path().join(format!("{number:02}.history")), file).unwrap();
    }
    let open = || {
        let all = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        all.filter(|file| file.starts_with(folder.path())).count()
    };
    let mut archive = Archive::open(folder.path()).unwrap();
    assert!(open() <= 1, "{} files are open", open());
    let mut replay = archive.replay(Select::All, Timestamp::MIN).unwrap();
    // A recorder deletes its oldest segment meanwhile.
    for deleted in ["07.history", "19.history"] {
        fs::remove_file(folder.path().join(deleted)).unwrap();
    }
    let (mut changes, mut gaps) = (0, Vec::new());
    while let Some(change) = replay.next_change().unwrap() {
        assert!(open() <= 1, "{} files are open", open());
        match change.what {
            What::Gap(gap) => gaps.push(gap.reason.to_string()),
            _ => changes += 1,
        }
    }
    assert_eq!((changes, gaps.len()), (18 * 3 - 1, 18));
    assert!(gaps[6].starts_with("cannot read ") && gaps[6].ends_with("07.history"), "{gaps:?}");
    assert!(gaps[17].ends_with("19.history"), "{gaps:?}");
}

#[test]
fn a_damaged_index_is_made_again() {
    let (mut encoder, mut file) = begin(1);
    put_frames(&mut encoder, 2..6, &mut file);
    let index = file.len();
    encoder.end_segment(&mut file).unwrap();
    file[index + 20] ^= 1;
    assert_eq!(changes(&file), (vec![2, 3, 4, 5], vec![]));
}

type Frames = [Range<usize>];

/// What a loss of power does to a file that is being written: zeros in a range, and the end at a length.
#[rstest]
#[case::end_of_the_last_frame(|it: &Frames| (it[3].end - 9..it[3].end, it[3].end), &[2, 3, 4])]
#[case::all_of_the_last_frame(|it: &Frames| (it[3].clone(), it[3].end), &[2, 3, 4])]
#[case::end_of_the_frame_before_a_part(|it: &Frames| (it[2].end - 9..it[2].end, it[3].start + 20), &[2, 3])]
#[case::a_frame_before_another(|it: &Frames| (it[1].clone(), it[3].end), &[2])]
#[case::two_halves_before_another(|it: &Frames| (it[1].end - 9..it[2].start + 20, it[3].end), &[2])]
#[case::the_end_of_the_state(|it: &Frames| (it[0].start - 9..it[3].end, it[3].end), &[])]
fn zeros_end_a_segment(#[case] damage: fn(&Frames) -> (Range<usize>, usize), #[case] expected: &[i64]) {
    let (mut encoder, mut file) = begin(1);
    let frames = put_frames(&mut encoder, 2..6, &mut file);
    let (zeros, length) = damage(&frames);
    file[zeros].fill(0);
    file.truncate(length);
    assert_eq!(changes(&file), (expected.to_vec(), vec![]));
}
