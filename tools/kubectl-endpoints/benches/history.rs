//! Time and memory of whole commands that read a day of history, which a folder has as `controller-manager` writes it.
//!
//! 10,000 Services with 8 Pods each in 40 namespaces, 1,000 Nodes, and 160 changes of Pods a second: the history has 42
//! million records. Writing it takes minutes. With the variable `HISTORY`, it is written to that folder, and read from it in the next run; with
//! `HOURS`, it is shorter. Prints, for the fastest of several runs: the time until the exit, the CPU time of the command, and
//! its peak memory.
#![expect(clippy::unwrap_used, reason = "a bench fails by panics")]
#![expect(clippy::print_stdout, reason = "the result")]
#![expect(clippy::disallowed_methods, reason = "it measures real time, and polls the kernel on a thread of its own")]

#[path = "../../../crates/history/tests/it/apps.rs"]
mod apps;
mod process;

use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use kube_endpoints_history::recorder::{Folder, Message, Recorder};
use kube_endpoints_history::{Archive, Encoder};

use self::apps::{Cluster, start};

const SERVICES: usize = 10_000;
const PODS: usize = 8;
/// Maximum length of the folder: all is kept.
const LIMIT: u64 = 2 << 30;

fn main() {
    // `cargo test --benches` passes no arguments: only compiling is tested.
    if !std::env::args().any(|it| it == "--bench") {
        return;
    }
    let hours: i64 = std::env::var("HOURS").map_or(24, |hours| hours.parse().unwrap());
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("HISTORY").map_or_else(|| temporary.path().join("history"), PathBuf::from);
    if !folder.exists() {
        write(&folder, hours);
    }
    let mut archive = Archive::open(&folder).unwrap();
    let starts: Vec<_> = archive.headers().map(|header| header.started).collect();
    let end = archive.end().unwrap().unwrap();
    let bytes: u64 = folder.read_dir().unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
    println!("{} segments until {end}, {} MiB", starts.len(), bytes >> 20);

    let kubeconfig = temporary.path().join("none");
    let measure = |line: &str| {
        let folder = folder.to_str().unwrap().to_owned();
        let args = line.split(' ').map(str::to_owned).chain(["--history".to_owned(), folder]);
        let cost = process::measure(&args.collect::<Vec<_>>(), &kubeconfig);
        println!("kubectl endpoints {line}: {cost}");
    };
    // A time at the end of a segment, whose changes are all read.
    let complete = starts[starts.len() / 2] - SignedDuration::from_secs(1);
    measure("history app-407 -n team-7");
    measure("history app-407 -n team-7 --all");
    for at in [complete, end] {
        measure(&format!("explain svc/app-407 -n team-7 --at {at}"));
        measure(&format!("check -n team-7 --at {at}"));
        measure(&format!("diff -n team-7 --at {at}"));
        measure(&format!("check -A --at {at}"));
    }
}

/// Records the changes of some hours. The recorder does not finish, as if it were still running.
fn write(folder: &Path, hours: i64) {
    let store = Folder::open(folder, LIMIT, SignedDuration::from_hours(2 * hours)).unwrap();
    let mut recorder = Recorder::new(Encoder::new("bench", []).unwrap(), store);
    let mut cluster = Cluster::new(SERVICES, PODS);
    for object in cluster.objects() {
        recorder.apply(Message::put(start(), None, object, true)).unwrap();
    }
    recorder.begin(start()).unwrap();
    for second in 1..=hours * 3_600 {
        cluster.second(|seen, author, object| {
            recorder.apply(Message::put(seen, Some(author.clone()), object, false)).unwrap();
        });
        recorder.checkpoint(start() + SignedDuration::from_secs(second)).unwrap();
    }
}
