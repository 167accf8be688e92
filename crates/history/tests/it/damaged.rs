//! Files that no recorder has written.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use kube_endpoints_history::{Archive, ReadError, Select};
use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;

use crate::frames::{announcing, compressed};
use crate::recording::{record, steps};

fn read_all(files: Vec<Vec<u8>>) -> Result<(), ReadError> {
    let mut archive = Archive::from_buffers(files)?;
    let mut replay = archive.replay(Select::All, Timestamp::MIN)?;
    while replay.next_change()?.is_some() {}
    Ok(())
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
    let error = read_all(vec![file]).unwrap_err().to_string();
    let expected =
        format!("memory is damaged at offset {offset}: a frame claims 1099511627776 bytes, more than 8388608");
    assert_eq!(error, expected);
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
