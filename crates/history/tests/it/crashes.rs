//! Many random changes, and a recorder that crashes again and again.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{EndpointSlice, Labels, Node, ObjectMeta, Pod, Service, well_known};
use kube_endpoints_history::recorder::{Folder, Message, Recorder};
use kube_endpoints_history::{Archive, Author, Change, Encoder, Gap, Recorded, Replay, Select, What};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tempfile::TempDir;

/// Number of runs of the recorder that write to one folder, one after another.
const RUNS: usize = 4;
/// Objects that may exist: 48 Pods, 8 Services, 8 slices and 4 Nodes.
const OBJECTS: usize = 68;

/// The objects that exist, by their numbers.
type State = Vec<Option<Recorded>>;

/// What a recorder gets.
#[derive(Clone)]
enum Logged {
    /// An object is created or changed, or deleted.
    Put(usize, Recorded),
    Removed(usize),
    Gap,
}

/// A run of the recorder, from the beginning to its crash.
struct Run {
    start: State,
    log: Vec<Logged>,
    /// Number of entries of the log whose frames were written whole.
    kept: usize,
}

/// The cluster that is recorded.
struct Cluster {
    numbers: StdRng,
    state: State,
    now: Timestamp,
    version: u64,
}

impl Cluster {
    /// Returns an object in a new state.
    fn object(&mut self, number: usize) -> Recorded {
        self.version += 1 + self.numbers.random_range(0..3);
        let resource_version = self.version.into();
        let (namespace, name) = ("shop".into(), format!("web-{number}").as_str().into());
        let label =
            |key: &str, value: usize| -> Labels { [(key, format!("web-{value}").as_str())].into_iter().collect() };
        match number {
            0..48 => {
                let (labels, ready) = (label("app", 48 + self.numbers.random_range(0..8)), self.numbers.random());
                Arc::new(Pod { namespace, name, labels, ready, resource_version, ..Pod::default() }).into()
            }
            48..56 => {
                let selector = Some(label("app", number));
                Arc::new(Service { namespace, name, selector, resource_version, ..Service::default() }).into()
            }
            56..64 => {
                let labels = label(well_known::SERVICE_NAME_LABEL, number - 8);
                let metadata = ObjectMeta { namespace, name, labels, resource_version, ..ObjectMeta::default() };
                Arc::new(EndpointSlice { metadata, ..EndpointSlice::default() }).into()
            }
            // Often of another version only, as heartbeats are.
            _ => {
                Arc::new(Node { name, ready: self.numbers.random_range(0..4) > 0, resource_version, ..Node::default() })
                    .into()
            }
        }
    }

    /// Makes a change. Returns it, and the object before.
    fn change(&mut self) -> (Logged, Option<Recorded>) {
        // Every 5,000 changes, there is none for long.
        let pause =
            if self.numbers.random_range(0..5_000) == 0 { 11_000 } else { 1 + self.numbers.random_range(0..15) };
        self.now += SignedDuration::from_millis(pause);
        let number = self.numbers.random_range(0..OBJECTS);
        let before = self.state[number].clone();
        let change = match self.numbers.random_range(0..100) {
            0 => Logged::Gap,
            1..10 if before.is_some() => {
                self.state[number] = None;
                Logged::Removed(number)
            }
            _ => {
                let object = self.object(number);
                self.state[number] = Some(object.clone());
                Logged::Put(number, object)
            }
        };
        (change, before)
    }

    fn author(&self) -> Author {
        let time = Timestamp::from_second(self.now.as_second()).ok();
        Author { manager: "kubelet".into(), user: "".into(), time }
    }

    /// Records random changes until the recorder crashes. Returns what can be read.
    fn run(&mut self, folder: &Path) -> Run {
        let store = Folder::open(folder, 1 << 30, SignedDuration::from_hours(48)).expect("a folder");
        let mut recorder = Recorder::new(Encoder::new("test", []).expect("memory"), store);
        let (start, mut log, mut kept) = (self.state.clone(), Vec::new(), 0);
        for object in start.iter().flatten() {
            recorder.apply(Message::put(self.now, None, object.clone(), false)).expect("not written yet");
        }
        recorder.begin(self.now).expect("space");
        let (count, period) = (1 + self.numbers.random_range(0..4_000), 1 + self.numbers.random_range(0..400));
        for _ in 0..count {
            let (change, before) = self.change();
            log.push(change.clone());
            let (author, what) = match (change, before) {
                (Logged::Put(_, after), before) => (Some(self.author()), What::Put { before, after }),
                (Logged::Removed(_), Some(object)) => (None, What::Removed(object)),
                _ => (None, What::Gap(self.gap())),
            };
            let change = Change { seen: self.now, author, what };
            let length = recorder.length();
            recorder.apply(Message { change, is_listed: false }).expect("space");
            if self.numbers.random_range(0..period) == 0 {
                recorder.checkpoint(self.now).expect("space");
            }
            if recorder.length() != length {
                kept = log.len();
            }
        }
        if self.numbers.random() {
            let (length, last) = last_file(folder);
            recorder.checkpoint(self.now).expect("space");
            if self.crash_within(&last, length) {
                kept = log.len();
            }
        }
        Run { start, log, kept }
    }

    fn gap(&self) -> Gap {
        Gap { since: self.now - SignedDuration::from_secs(1), reason: "the watch has ended".into() }
    }

    /// Removes a part of what was appended to a file after a length, and the file that may have followed. Returns whether the
    /// first frame is still whole.
    fn crash_within(&mut self, file: &Path, length: u64) -> bool {
        let folder = file.parent().expect("a folder");
        let (content, (_, last)) = (fs::read(file).expect("a file"), last_file(folder));
        let appended = &content[usize::try_from(length).expect("short")..];
        let cut = self.numbers.random_range(0..appended.len() + 2);
        if cut > appended.len() {
            // All was written.
            return true;
        }
        if last != file {
            fs::remove_file(last).expect("a file");
        }
        OpenOptions::new().write(true).open(file).and_then(|file| file.set_len(length + cut as u64)).expect("a file");
        // A frame begins with 12 bytes, of which the last four are its length.
        let first = appended.get(8..12).and_then(|it| it.try_into().ok()).map_or(0, u32::from_le_bytes);
        cut >= (12 + first as usize).min(appended.len())
    }
}

/// Returns the length and path of the last file of a folder.
fn last_file(folder: &Path) -> (u64, PathBuf) {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let last = files.filter(|file| file.extension().is_some_and(|it| it == "history")).max().expect("a file");
    (File::open(&last).and_then(|file| file.metadata()).expect("a file").len(), last)
}

fn number_of(object: &Recorded) -> usize {
    object.key().name.rsplit('-').next().and_then(|it| it.parse().ok()).expect("a number")
}

fn state(replay: &Replay<'_>) -> State {
    let mut state = vec![None; OBJECTS];
    replay.objects().for_each(|object| state[number_of(object)] = Some(object.clone()));
    state
}

/// Requires that a folder has the changes of all runs, each up to its crash, in their order.
fn verify(folder: &Path, runs: &[Run]) {
    let mut archive = Archive::open(folder).expect("a history");
    let first = archive.headers().next().expect("a segment").started;
    let mut replay = archive.replay(Select::All, first).expect("a history");
    let mut expected = runs[0].start.clone();
    let next = |replay: &mut Replay<'_>| replay.next_change().expect("a history");
    for (at, run) in runs.iter().enumerate() {
        if at > 0 {
            assert!(matches!(next(&mut replay), Some(Change { what: What::Gap(_), .. })), "a gap before run {at}");
            for _ in expected.iter().zip(&run.start).filter(|(before, after)| before != after) {
                next(&mut replay);
            }
            expected.clone_from(&run.start);
        }
        assert!(state(&replay) == expected, "the state at the beginning of run {at}");
        for (number, entry) in run.log[..run.kept].iter().enumerate() {
            let change = next(&mut replay);
            let is_expected = match (entry, change.as_ref().map(|change| &change.what)) {
                (Logged::Put(number, object), Some(What::Put { before, after })) => {
                    let is_expected = expected[*number] == *before && object == after;
                    expected[*number] = Some(after.clone());
                    is_expected
                }
                (Logged::Removed(number), Some(What::Removed(before))) => {
                    expected[*number].take().as_ref() == Some(before)
                }
                (Logged::Gap, Some(What::Gap(_))) => true,
                _ => false,
            };
            assert!(is_expected, "change {number} of {} of run {at}: {change:?}", run.kept);
        }
        assert!(state(&replay) == expected, "the state at the end of run {at}");
    }
    assert_eq!(next(&mut replay), None, "the end");
    let sought = archive.replay(Select::All, Timestamp::MAX).expect("a history");
    assert!(state(&sought) == expected, "the state at the end, sought");
}

/// Returns a folder in memory if the system has one: the recorder waits for the disk at each checkpoint.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// Records random changes, the same in each run, with crashes at random bytes.
fn record(count: usize) {
    let now = "2026-11-27T14:00:00Z".parse().expect("a time");
    let mut cluster = Cluster { numbers: StdRng::seed_from_u64(43), state: vec![None; OBJECTS], now, version: 1 };
    let (mut changes, mut lost, mut crashes) = (0, 0, 0);
    while changes < count {
        let folder = folder();
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            runs.push(cluster.run(folder.path()));
            cluster.now += SignedDuration::from_secs(1);
            // While no recorder is running.
            (0..cluster.numbers.random_range(0..8)).for_each(|_| drop(cluster.change()));
        }
        verify(folder.path(), &runs);
        changes += runs.iter().map(|run| run.log.len()).sum::<usize>();
        lost += runs.iter().filter(|run| run.kept < run.log.len()).count();
        crashes += RUNS;
    }
    // Some crashes have lost nothing, because all was written, and others what was not.
    assert!(lost > crashes / 4 && lost < crashes, "{lost} of {crashes} crashes have lost changes");
}

#[test]
fn a_crash_loses_nothing_but_the_last_frame() {
    record(200_000);
}

/// Takes half a minute without optimisation.
#[test]
#[ignore = "for --release"]
fn a_crash_loses_nothing_but_the_last_frame_of_a_million_changes() {
    record(1_000_000);
}
