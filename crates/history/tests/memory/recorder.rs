//! Memory that the recorder takes beside the objects, which the caches have all the same.

use jiff::SignedDuration;
use kube_endpoints_history::recorder::{Folder, Message, Recorder};
use kube_endpoints_history::{Encoder, Recorded};

use crate::apps::{Cluster, start};
use crate::one_test;

/// Of 4 MiB that the recorder may cost: the rest is for code, a thread, and what the allocator cannot use.
const LIMIT: usize = 2 << 20;

#[test]
fn a_recorder_of_20_000_pods_takes_little_memory() {
    const SECONDS: i64 = 20;
    let _test = one_test();
    let mut cluster = Cluster::new(1_000, 20);
    let state: Vec<Recorded> = cluster.objects().collect();
    let mut second = || {
        let mut messages = Vec::new();
        cluster.second(|seen, author, object| messages.push(Message::put(seen, Some(author.clone()), object, false)));
        messages
    };
    let seconds: Vec<Vec<Message>> = (0..SECONDS).map(|_| second()).collect();
    let folder = tempfile::tempdir().expect("a folder");

    let profiler = dhat::Profiler::builder().testing().trim_backtraces(Some(4)).build();
    let open = Folder::open(folder.path(), 512 << 20, SignedDuration::from_hours(24));
    let encoder = Encoder::new("test", []).expect("memory");
    let mut recorder = Recorder::new(encoder, open.expect("a folder"));
    for object in state {
        recorder.apply(Message::put(start(), None, object, true)).expect("space");
    }
    recorder.begin(start()).expect("space");
    for (messages, second) in seconds.into_iter().zip(1..) {
        for message in messages {
            recorder.apply(message).expect("space");
        }
        recorder.checkpoint(start() + SignedDuration::from_secs(second)).expect("space");
    }
    recorder.finish(start() + SignedDuration::from_secs(SECONDS)).expect("space");
    let bytes = dhat::HeapStats::get().max_bytes;
    drop(profiler);
    assert!(bytes <= LIMIT, "{bytes} bytes");
}
