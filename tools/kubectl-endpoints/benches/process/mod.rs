//! Time and memory of a process.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 5;

/// What a run of a command takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    /// Time until the exit.
    elapsed: Duration,
    cpu: Duration,
    /// Peak memory, in KiB.
    memory: u64,
}

/// Returns what the fastest of several runs of a command takes.
pub(crate) fn measure(args: &[String], kubeconfig: &Path) -> Cost {
    (0..RUNS).map(|_| run(args, kubeconfig)).min().unwrap()
}

fn run(args: &[String], kubeconfig: &Path) -> Cost {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-endpoints"))
        .args(args)
        .env("KUBECONFIG", kubeconfig)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let path = format!("/proc/{}", child.id());
    let (mut cpu, mut memory) = (Duration::ZERO, 0);
    // The kernel forgets the figures once the child is waited for.
    loop {
        if let Ok(status) = std::fs::read_to_string(format!("{path}/status")) {
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            memory = peak.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(memory);
        }
        cpu = cpu_time(&path).unwrap_or(cpu);
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let elapsed = started.elapsed();
    // The status is 1 if `check` or `diff` finds something.
    let status = child.wait().unwrap().code();
    assert!(status <= Some(1) && status.is_some(), "the command failed");
    Cost { elapsed, cpu, memory }
}

/// Returns the user and system time of a process; ticks are hundredths of a second.
fn cpu_time(path: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("{path}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { elapsed, cpu, memory } = self;
        write!(f, "{elapsed:.2?}, {cpu:.2?} CPU, {} MiB", memory / 1024)
    }
}
