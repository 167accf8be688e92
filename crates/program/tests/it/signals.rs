//! Shutdown by signals, of a process that runs the ignored test of this file.

use std::future::pending;
use std::process::Stdio;

use kube_controller_program::stop_on_signals;
use rstest::rstest;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

#[tokio::test]
#[ignore = "ended by the signals of the other test"]
async fn stopped_process() {
    let stop = stop_on_signals().unwrap();
    eprintln!("waiting");
    stop.cancelled().await;
    eprintln!("stopping");
    pending::<()>().await;
}

#[rstest]
#[case("TERM", "INT")]
#[case("INT", "TERM")]
#[case("TERM", "TERM")]
#[tokio::test]
async fn the_first_signal_stops_and_the_second_ends_at_once(#[case] first: &str, #[case] second: &str) {
    let test = std::env::current_exe().unwrap();
    let mut child = Command::new(test)
        .args(["signals::stopped_process", "--exact", "--ignored", "--nocapture"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pid = child.id().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    for (line, signal) in [("waiting", first), ("stopping", second)] {
        while lines.next_line().await.unwrap().expect("the process runs") != line {}
        let sent = Command::new("sh").arg("-c").arg(format!("kill -{signal} {pid}")).status().await.unwrap();
        assert!(sent.success());
    }
    assert_eq!(child.wait().await.unwrap().code(), Some(1));
}
