//! Tests with a folder and with a ring.

use std::io::Write as _;

use super::*;

/// Returns the names of the files of a folder but its lock, in order.
fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "lock");
    names.sort();
    names
}

fn length_of_files(path: &Path) -> u64 {
    fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// Records changes, one a second, and calls `check` after each.
fn record(recorder: &mut Recorder, seconds: std::ops::Range<i64>, mut check: impl FnMut(&Recorder)) {
    for second in seconds {
        recorder.apply(put(second, &format!("web-{}", second % 7), second.unsigned_abs())).unwrap();
        recorder.checkpoint(time(second)).unwrap();
        check(recorder);
    }
}

#[test]
fn a_folder_keeps_most_of_its_limit_and_never_more() {
    let (folder, limit) = (tempfile::tempdir().unwrap(), 16 << 10);
    let mut recorder = recorder_to(open_folder(folder.path(), limit));
    recorder.begin(time(0)).unwrap();
    let mut least = u64::MAX;
    record(&mut recorder, 1..600, |recorder| {
        let length = length_of_files(folder.path());
        assert!(length <= limit && recorder.length() == length, "{length} of {limit}");
        if recorder.oldest() != Some(time(0)) {
            least = least.min(length);
        }
    });
    assert!(least > limit * 3 / 4, "{least} of {limit}");
    recorder.finish(time(600)).unwrap();
    let oldest = recorder.oldest().unwrap();
    let changes = changes(folder.path());
    let seen: Vec<_> = changes.iter().map(|change| change.seen).collect();
    let expected: Vec<_> = (1..600).map(time).filter(|seen| *seen > oldest).collect();
    assert_eq!(seen, expected, "all changes since the oldest segment");
    assert!(changes.iter().all(|change| !matches!(change.what, What::Gap(_))));
}

/// As on a disk that is smaller than the limit.
#[test]
fn the_oldest_segments_make_way_on_a_full_disk() {
    let (folder, limit) = (tempfile::tempdir().unwrap(), 16 << 10);
    let mut recorder = recorder_to(open_folder(folder.path(), limit));
    recorder.begin(time(0)).unwrap();
    record(&mut recorder, 1..600, |_| ());
    drop(recorder);
    let (files, space) = (names(folder.path()), length_of_files(folder.path()) * 3 / 4);
    let begin = |space: u64| {
        open_folder(folder.path(), limit).begin(time(600), 6, &mut |out| {
            out.write_all(b"header")?;
            if length_of_files(folder.path()) > space { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    };
    begin(space).unwrap();
    let left = names(folder.path());
    let (new, old) = left.split_last().unwrap();
    assert!(!old.is_empty() && old.len() < files.len() && files.ends_with(old), "{old:?} of {files:?}");
    assert!(!files.contains(new) && length_of_files(folder.path()) <= space);
    assert_eq!(begin(5).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn the_oldest_segments_make_way_for_a_change_on_a_full_disk() {
    let (folder, limit) = (tempfile::tempdir().unwrap(), 16 << 10);
    let mut recorder = recorder_to(open_folder(folder.path(), limit));
    recorder.begin(time(0)).unwrap();
    record(&mut recorder, 1..600, |_| ());
    drop(recorder);
    let mut store = open_folder(folder.path(), limit);
    store.begin(time(600), 6, &mut |out| out.write_all(b"header")).unwrap();
    let (files, space) = (names(folder.path()), length_of_files(folder.path()) * 3 / 4);
    let append = |store: &mut Folder, space| {
        // A part of it is written before the disk is full.
        store.append_with(6, &mut |file| {
            file.write_all(b"cha")?;
            if length_of_files(folder.path()) > space {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                file.write_all(b"nge")
            }
        })
    };
    append(&mut store, space).unwrap();
    let left = names(folder.path());
    assert!(left.len() > 1 && left.len() < files.len() && files.ends_with(&left), "{left:?} of {files:?}");
    assert_eq!(fs::read(folder.path().join(&left[left.len() - 1])).unwrap(), b"headerchange");
    assert_eq!(store.space().length, length_of_files(folder.path()));
    assert_eq!(append(&mut store, 5).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(names(folder.path()), left[left.len() - 1..], "the present segment stays");
}

#[rstest]
#[case::folder(|path: &Path, limit| recorder_to(open_folder(path, limit)))]
#[case::ring(|_: &Path, limit| recorder_to(Ring::new(limit, SignedDuration::from_hours(24))))]
fn a_state_that_leaves_no_space_for_changes_is_an_error(#[case] open: fn(&Path, u64) -> Recorder) {
    let folder = tempfile::tempdir().unwrap();
    let begin = |limit: u64| {
        let mut recorder = open(folder.path(), limit);
        (0..300).for_each(|number| recorder.apply(put(0, &format!("web-{number}"), number)).unwrap());
        recorder.begin(time(0)).map(|()| recorder)
    };
    let state = begin(1 << 20).unwrap().length();
    let error = begin(state * 5 / 4).err().expect("no space for changes").to_string();
    assert!(error.ends_with("leaves too little for changes"), "{error}");
    let mut recorder = begin(state * 3 / 2).unwrap();
    (1..60).for_each(|second| recorder.checkpoint(time(second)).unwrap());
    assert_eq!(recorder.oldest(), Some(time(0)), "no segment has ended");
}

#[rstest]
#[case::missing(1, |file: &Path| fs::remove_file(file), "3599-7200 the recorder was not running, or could not write")]
#[case::damaged(1, |file: &Path| fs::write(file, "?"), "3599-7200 2026-11-27T15-00-00.000Z.history is not a history file")]
#[case::last(4, |file: &Path| fs::write(file, "?"), "14399-14399 2026-11-27T18-00-00.000Z.history is not a history file")]
fn a_segment_that_cannot_be_read_is_a_gap(
    #[case] number: usize,
    #[case] damage: fn(&Path) -> io::Result<()>,
    #[case] expected: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_to(open_folder(folder.path(), 1 << 20));
    recorder.begin(time(0)).unwrap();
    for end in (1..5).map(|hour| 3_600 * hour) {
        recorder.checkpoint(time(end - 1)).unwrap();
        recorder.checkpoint(time(end)).unwrap();
    }
    drop(recorder);
    damage(&folder.path().join(&names(folder.path())[number])).unwrap();
    let gaps = || -> Vec<String> {
        let gap = |Change { seen, what, .. }| {
            let What::Gap(Gap { since, reason }) = what else { panic!("{what:?}") };
            let [since, seen] = [since, seen].map(|it| it.duration_since(time(0)).as_secs());
            format!("{since}-{seen} {}", reason.rsplit('/').next().unwrap())
        };
        changes(folder.path()).into_iter().map(gap).collect()
    };
    assert_eq!(gaps(), [expected]);
    recorder_to(open_folder(folder.path(), 1 << 20)).begin(time(20_000)).unwrap();
    assert!(gaps().last().unwrap().contains("-20000 "), "the recorder goes on: {:?}", gaps());
}

/// A Node may boot with a clock in the future, which is set back later.
#[test]
fn a_clock_that_is_wrong_for_a_minute_deletes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_to(Folder::open(folder.path(), 1 << 20, SignedDuration::from_hours(1)).unwrap());
    recorder.begin(time(0)).unwrap();
    (0..60).for_each(|minute| recorder.checkpoint(time(60 * minute)).unwrap());
    let before = names(folder.path());
    (86_400..86_460).chain(3_600..3_720).for_each(|second| recorder.checkpoint(time(second)).unwrap());
    let after = names(folder.path());
    assert!(before.len() > 12 && after.starts_with(&before), "{after:?}");
    (62..240).for_each(|minute| recorder.checkpoint(time(60 * minute)).unwrap());
    let oldest = recorder.oldest().unwrap();
    assert!(time(60 * 175) < oldest && oldest < time(60 * 180), "what is too old goes all the same: {oldest}");
}

/// Otherwise what is too old would stay for as long as no segment can begin.
#[test]
fn what_is_too_old_goes_although_no_segment_can_begin() {
    let folder = tempfile::tempdir().unwrap();
    let open = || recorder_to(Folder::open(folder.path(), 1 << 20, SignedDuration::from_hours(1)).unwrap());
    let mut recorder = open();
    recorder.begin(time(0)).unwrap();
    (0..60).for_each(|minute| recorder.checkpoint(time(60 * minute)).unwrap());
    let before = names(folder.path());
    drop(recorder);
    let mut recorder = open();
    fs::create_dir(folder.path().join("2026-11-28T14-00-00.000Z.history.new")).unwrap();
    recorder.begin(time(86_400)).unwrap_err();
    let after = names(folder.path());
    assert!(before.len() > 12 && after[..after.len() - 1] == before[1..], "one, as the clock may be wrong: {after:?}");
}

#[test]
fn a_folder_forgets_what_is_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_to(Folder::open(folder.path(), 1 << 20, SignedDuration::from_hours(1)).unwrap());
    recorder.begin(time(0)).unwrap();
    for minute in 0..180 {
        recorder.checkpoint(time(60 * minute)).unwrap();
    }
    let oldest = recorder.oldest().unwrap();
    assert!(time(60 * 115) < oldest && oldest < time(60 * 120), "{oldest}");
    assert_eq!(Archive::open(folder.path()).unwrap().headers().next().unwrap().started, oldest);
}

#[test]
fn a_folder_counts_the_files_of_earlier_runs_and_no_others() {
    let (folder, limit) = (tempfile::tempdir().unwrap(), 8 << 10);
    for name in ["shop.history", "notes.txt", "2026-11-27T14-00-00.000Z.txt"] {
        fs::write(folder.path().join(name), vec![0; 40 << 10]).unwrap();
    }
    fs::write(folder.path().join("2026-11-27T13-00-00.000Z.history.new"), "a crash").unwrap();
    let others = length_of_files(folder.path()) - 7;
    for run in 0..6 {
        let mut recorder = recorder_to(open_folder(folder.path(), limit));
        let start = 100 * run;
        recorder.begin(time(start)).unwrap();
        record(&mut recorder, start + 1..start + 90, |_| {
            assert!(length_of_files(folder.path()) - others <= limit);
        });
        // Without an end, as after a crash.
    }
    let names = names(folder.path());
    let has_extension = |name: &&String, expected| Path::new(name).extension().is_some_and(|it| it == expected);
    let others: Vec<&String> =
        names.iter().filter(|name| !name.starts_with("2026-11-27T") || has_extension(name, "txt")).collect();
    assert_eq!(others, ["2026-11-27T14-00-00.000Z.txt", "notes.txt", "shop.history"]);
    assert!(!names.iter().any(|name| has_extension(&name, "new")), "{names:?}");
    for name in ["shop.history", "notes.txt", "2026-11-27T14-00-00.000Z.txt"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    assert_eq!(changes(folder.path()).last().unwrap().seen, time(589));
}

#[test]
fn a_folder_that_is_removed_is_an_error_and_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut recorder = recorder_to(open_folder(&path, 1 << 20));
    recorder.begin(time(0)).unwrap();
    fs::remove_dir_all(&path).unwrap();
    recorder.apply(put(1, "web-0", 0)).unwrap();
    assert_eq!(recorder.checkpoint(time(2)).unwrap_err().kind(), io::ErrorKind::NotFound);
    let mut recorder = recorder_to(open_folder(&path, 1 << 20));
    recorder.begin(time(3)).unwrap();
    assert_eq!(names(&path), ["2026-11-27T14-00-03.000Z.history"]);
}

#[test]
fn names_sort_by_time_although_the_clock_was_set_back() {
    let folder = tempfile::tempdir().unwrap();
    for start in [time(10), time(0), time(10)] {
        recorder_to(open_folder(folder.path(), 1 << 20)).begin(start).unwrap();
    }
    let expected = ["10.000", "10.001", "10.002"].map(|seconds| format!("2026-11-27T14-00-{seconds}Z.history"));
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn a_crash_anywhere_leaves_a_readable_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_to(open_folder(folder.path(), 1 << 20));
    recorder.begin(time(0)).unwrap();
    record(&mut recorder, 1..20, |_| ());
    drop(recorder);
    let file = folder.path().join(&names(folder.path())[0]);
    let whole = fs::read(&file).unwrap();
    let begun = changes(folder.path()).len();
    assert_eq!(begun, 19);
    let header = Archive::from_buffers([whole.clone()]).unwrap().headers().next().unwrap().clone();
    // The file gets its name once its header and state are in it.
    let first = whole.len() - 19 * 40;
    // After a loss of power, a file may end with zeros that were never written.
    for (length, zeros) in (first..whole.len()).step_by(7).flat_map(|length| [(length, 0), (length, 5_000)]) {
        fs::write(&file, [&whole[..length], &vec![0; zeros]].concat()).unwrap();
        let mut recorder = recorder_to(open_folder(folder.path(), 1 << 20));
        recorder.begin(time(100)).unwrap();
        let headers: Vec<_> = Archive::open(folder.path()).unwrap().headers().cloned().collect();
        assert_eq!((headers.len(), &headers[0]), (2, &header), "{length}");
        let changes = changes(folder.path());
        assert!(changes.iter().take_while(|change| change.seen < time(100)).count() < 20);
        fs::remove_file(folder.path().join(&names(folder.path())[1])).unwrap();
    }
}

#[test]
fn a_ring_keeps_most_of_its_limit_and_never_more() {
    let limit = 64 << 10;
    let ring = Ring::new(limit, SignedDuration::from_hours(24));
    let mut recorder = recorder_to(ring.clone());
    recorder.begin(time(0)).unwrap();
    record(&mut recorder, 1..3_000, |recorder| assert!(recorder.length() <= limit));
    assert!(recorder.length() > limit * 3 / 4, "{} of {limit}", recorder.length());
    let mut archive = ring.archive().unwrap();
    assert_eq!(archive.headers().next().map(|header| header.started), recorder.oldest());
    assert_eq!(archive.end().unwrap(), Some(time(2_999)));
    assert!(archive.headers().len() > 12, "{}", archive.headers().len());
}

#[test]
fn a_folder_is_for_one_recorder() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Folder::open(folder.path(), 1 << 20, SignedDuration::from_hours(24));
    let first = open().unwrap();
    let error = open().unwrap_err();
    let expected = format!("another process records to {}", folder.path().display());
    assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::WouldBlock, expected));
    drop(first);
    open().unwrap();
}

#[rstest]
#[case::files(1_801, false)]
#[case::segments_of_the_page(3_700, true)]
fn a_run_after_the_clock_was_set_back_is_between_gaps(#[case] last: i64, #[case] are_buffers: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_to(open_folder(folder.path(), 1 << 20));
    recorder.apply(put(0, "web-0", 0)).unwrap();
    recorder.begin(time(0)).unwrap();
    recorder.checkpoint(time(3_600)).unwrap();
    recorder.apply(put(3_601, "web-0", 1)).unwrap();
    recorder.finish(time(3_700)).unwrap();
    drop(recorder);
    let mut recorder = recorder_to(open_folder(folder.path(), 1 << 20));
    recorder.apply(put(1_800, "web-0", 2)).unwrap();
    recorder.begin(time(1_800)).unwrap();
    recorder.apply(put(last, "web-0", 3)).unwrap();
    recorder.finish(time(last)).unwrap();

    let mut archive = Archive::open(folder.path()).unwrap();
    if are_buffers {
        let starts = [0, 1_800, 3_600].map(time);
        archive = Archive::from_buffers(starts.map(|start| archive.segment(start, 1 << 20).unwrap())).unwrap();
    }
    let mut replay = archive.replay(Select::All, Timestamp::MIN).unwrap();
    let (mut seen, mut known) = (Vec::new(), None);
    while let Some(change) = replay.next_change().unwrap() {
        let kind = match change.what {
            What::Put { before, after } => {
                assert!(known.is_none() || before == known, "{after:?}");
                known = Some(after);
                "put"
            }
            What::Gap(_) => "gap",
            other => panic!("{other:?}"),
        };
        seen.push((change.seen.duration_since(time(0)).as_secs(), kind));
    }
    let gaps = |second| [(second, "gap"), (second, "put")];
    let expected = [&gaps(1_800)[..], &[(last, "put")], &gaps(3_600), &[(3_601, "put")]].concat();
    assert_eq!(seen, expected);
}

/// Otherwise all changes would have the time of the jump, for as long as that is in the future.
#[test]
fn changes_after_the_clock_was_set_back_have_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_to(open_folder(folder.path(), 1 << 20));
    recorder.begin(time(7_200)).unwrap();
    recorder.apply(put(7_201, "web-0", 0)).unwrap();
    recorder.checkpoint(time(7_202)).unwrap();
    for second in 1..4 {
        recorder.checkpoint(time(second)).unwrap();
        recorder.apply(put(second, "web-0", second.unsigned_abs())).unwrap();
    }
    recorder.finish(time(9)).unwrap();
    let mut archive = Archive::open(folder.path()).unwrap();
    let starts: Vec<_> = archive.headers().map(|header| header.started).collect();
    assert_eq!(starts, [time(1), time(7_200)]);
    let mut replay = archive.replay(Select::All, time(0)).unwrap();
    let seen: Vec<_> = std::iter::from_fn(|| replay.next_change().unwrap()).take(3).map(|change| change.seen).collect();
    assert_eq!(seen, [1, 2, 3].map(time));
    assert_eq!(names(folder.path()).len(), 2, "a small step back is none");
}
