//! Memory that the recorder takes beside the objects, which the caches have all the same, counted by the allocator.
#![cfg(feature = "recorder")]

#[path = "it/apps.rs"]
mod apps;

use jiff::SignedDuration;
use kube_endpoints_history::recorder::{Folder, Message, Recorder};
use kube_endpoints_history::{Author, Encoder, Recorded};

use self::apps::{App, Numbers, start};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Of 4 MiB that the recorder may cost: the rest is for code, a thread, and what the allocator cannot use.
const LIMIT: usize = 2 << 20;

fn put(object: Recorded, at: SignedDuration, author: Option<Author>) -> Message {
    let is_new = author.is_none();
    Message::Put { seen: start() + at, author, object, is_new, is_listed: is_new }
}

/// One test only: the profiler counts for the whole process.
#[test]
fn a_recorder_of_20_000_pods_takes_little_memory() {
    const FLIPS: i64 = 160;
    const SECONDS: i64 = 20;
    let (mut numbers, mut version) = (Numbers(1), 1_u64 << 30);
    let mut apps: Vec<App> = (0..1_000).map(|at| App::new(at, 20, &mut numbers)).collect();
    let state: Vec<Recorded> = apps.iter().flat_map(App::objects).collect();
    let author = Author { manager: "kubelet".into(), ..Author::default() };
    let mut flip = |at: i64| {
        let at = SignedDuration::from_micros(1_000_000 / FLIPS * at);
        let app = &mut apps[(numbers.next() % 1_000) as usize];
        app.flip(start() + at, &mut version, &mut numbers).map(|object| put(object, at, Some(author.clone())))
    };
    let seconds: Vec<Vec<Message>> =
        (0..SECONDS).map(|second| (0..FLIPS).flat_map(|at| flip(FLIPS * second + at)).collect()).collect();
    let folder = tempfile::tempdir().expect("a folder");

    let profiler = dhat::Profiler::builder().testing().build();
    let open = Folder::open(folder.path(), 512 << 20, SignedDuration::from_hours(24));
    let encoder = Encoder::new("test", []).expect("memory");
    let mut recorder = Recorder::new(encoder, open.expect("a folder"));
    for object in state {
        recorder.apply(put(object, SignedDuration::ZERO, None)).expect("space");
    }
    recorder.begin(start()).expect("space");
    for (messages, second) in seconds.into_iter().zip(1..) {
        messages.into_iter().for_each(|message| recorder.apply(message).expect("space"));
        recorder.checkpoint(start() + SignedDuration::from_secs(second)).expect("space");
    }
    recorder.finish(start() + SignedDuration::from_secs(SECONDS)).expect("space");
    let bytes = dhat::HeapStats::get().max_bytes;
    drop(profiler);
    assert!(bytes <= LIMIT, "{bytes} bytes");
}
