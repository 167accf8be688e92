//! Memory that hostile files and the recorder take, counted by the allocator.

#[cfg(feature = "recorder")]
#[path = "../it/apps.rs"]
mod apps;
#[path = "../it/frames.rs"]
mod frames;
#[cfg(feature = "recorder")]
mod recorder;

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use kube_endpoints_history::{Archive, Encoder, ReadError, Select, What};

use self::frames::{announcing, compressed};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Returns a guard for the time of a test: the profiler counts for the whole process.
fn one_test() -> MutexGuard<'static, ()> {
    static TEST: Mutex<()> = Mutex::new(());
    TEST.lock().unwrap_or_else(PoisonError::into_inner)
}

const LIMIT: usize = 64 << 20;
const TERABYTE: u64 = 1 << 40;

/// Returns a segment with nothing in it.
fn segment() -> Vec<u8> {
    let mut file = Vec::new();
    let begun =
        Encoder::new("test", []).and_then(|mut encoder| encoder.begin_segment(Timestamp::UNIX_EPOCH, &mut file));
    begun.expect("memory");
    file
}

/// Returns the reason of the gap at the end.
fn read_all(path: &Path) -> Result<String, ReadError> {
    let mut archive = Archive::open(path)?;
    let mut replay = archive.replay(Select::All, Timestamp::MIN)?;
    let mut reason = String::new();
    while let Some(change) = replay.next_change()? {
        reason = if let What::Gap(gap) = change.what { gap.reason.to_string() } else { String::new() };
    }
    Ok(reason)
}

#[test]
fn hostile_files_take_little_memory() {
    let _test = one_test();
    let head = segment();
    let offset = head.len();
    // The files end with a hole up to their length, which takes no space on most disks.
    let files = [
        (
            "announces a frame of 4 GiB",
            announcing(u32::MAX),
            (offset + 12) as u64 + u64::from(u32::MAX),
            "a frame has 4294967295 bytes",
        ),
        ("has a hole of a terabyte", Vec::new(), TERABYTE, "no frame begins here"),
        ("has a frame of 9 MiB", compressed(&vec![3; 9 << 20]), 0, "a frame claims 9437184 bytes"),
        ("has a frame of nonsense", compressed(&vec![3; 8 << 20]), 0, ""),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, tail, length, problem) in files {
        let path = folder.path().join("hostile.history");
        let content = [&head[..], &tail].concat();
        let (length, path) = (length.max(content.len() as u64), path.as_path());
        std::fs::write(path, content).expect("space");
        OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(length)).expect("a sparse file");
        let profiler = dhat::Profiler::builder().testing().trim_backtraces(Some(4)).build();
        let error = read_all(path).expect(name);
        let bytes = dhat::HeapStats::get().max_bytes;
        drop(profiler);
        assert!(error.contains(&format!("is damaged at offset {offset}: {problem}")), "{name}: {error}");
        assert!(bytes <= LIMIT, "{name}: {bytes} bytes");
    }
}
