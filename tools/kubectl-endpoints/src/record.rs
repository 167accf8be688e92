//! `record`: writes the objects as they change into a history file.

mod audit;
mod watches;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use kube_endpoints_history::Encoder;
use kube_endpoints_history::recorder::{Gaps, Message, OneFile, Recorder};
use kube_informer::wait_for_sync;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use self::watches::{Watches, sending};
use crate::args::{GlobalArgs, RecordArgs};
use crate::connection::Connection;
use crate::output::{message, plural, second};
use crate::stop::StopSignals;

/// Timeout of the first lists.
const SYNC_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time for which a change is not on the disk.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// Name of the recorder in the file.
const PROGRAM: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));
const UNWRITABLE: &str = "cannot write the history file";

/// Records until a signal, `--for` or `--max-size` ends it. A failed watch or write ends it with an error; what was recorded
/// until then stays in the file.
pub(crate) async fn run(global: &GlobalArgs, args: &RecordArgs) -> anyhow::Result<ExitCode> {
    if args.to.symlink_metadata().is_ok() {
        let path = args.to.display();
        bail!("{path} exists: choose another name; --history reads all files *.history of a folder as one history");
    }
    if !args.from_audit_log.is_empty() {
        return audit::run(global, args);
    }
    let mut signals = StopSignals::listen().context("cannot listen for signals")?;
    let connection = Connection::open(global).await?;
    let mut tasks = JoinSet::new();
    let following = connection.client.follow_files();
    tasks.spawn(async { match following.await {} });
    let starting = start(global, args, &connection, &mut tasks);
    let (mut recorder, messages) = tokio::select! {
        biased;
        () = signals.next() => bail!("stopped before the first lists: nothing was recorded"),
        started = Box::pin(starting) => started?,
    };
    let scope = scope(global, &connection);
    message("", format_args!("Recording {scope} to {}; Ctrl-C ends it.", args.to.display()));
    let end = args.duration.and_then(|duration| Instant::now().checked_add(duration));
    let recorded = record(&mut recorder, messages, &mut signals, &mut tasks, end).await;
    let finished = recorder.finish(kube_ambient::now());
    message("", summary(&recorder));
    recorded?;
    finished.context(UNWRITABLE)?;
    Ok(ExitCode::SUCCESS)
}

fn scope(global: &GlobalArgs, connection: &Connection) -> String {
    if global.all_namespaces { "all namespaces".to_owned() } else { format!("namespace {}", connection.namespace) }
}

/// Starts the informers, and begins the file once all of them have delivered their first list.
async fn start(
    global: &GlobalArgs,
    args: &RecordArgs,
    connection: &Connection,
    tasks: &mut JoinSet<()>,
) -> anyhow::Result<(Recorder, UnboundedReceiver<Message>)> {
    let namespace = (!global.all_namespaces).then_some(connection.namespace.as_str());
    let (sender, mut messages) = unbounded_channel();
    let (handlers, unknown) = (Vec::new(), BTreeSet::new());
    let gaps = Gaps::new(sending(&sender));
    let mut watches = Watches { connection, namespace, messages: sender, gaps, tasks, handlers, unknown };
    watches.start().await?;
    wait_for_sync(&watches.handlers, SYNC_TIMEOUT).await?;
    let file = OneFile::new(&args.to, args.max_size);
    let mut recorder = Recorder::new(Encoder::new(PROGRAM, watches.unknown)?, file).with_watches(watches.gaps);
    while let Ok(message) = messages.try_recv() {
        recorder.apply(message)?;
    }
    recorder.begin(kube_ambient::now()).with_context(|| format!("cannot write {}", args.to.display()))?;
    Ok((recorder, messages))
}

/// Records the messages until the end.
async fn record(
    recorder: &mut Recorder,
    mut messages: UnboundedReceiver<Message>,
    signals: &mut StopSignals,
    tasks: &mut JoinSet<()>,
    end: Option<Instant>,
) -> anyhow::Result<()> {
    let mut checkpoints = interval(CHECKPOINT);
    checkpoints.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !recorder.is_at_limit() {
        let at_end = async {
            match end {
                Some(end) => sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = signals.next() => break,
            () = at_end => break,
            ended = tasks.join_next() => {
                ended.context("no watch is left")??;
                bail!("a watch has ended");
            }
            _ = checkpoints.tick() => recorder.checkpoint(kube_ambient::now()).context(UNWRITABLE)?,
            Some(message) = messages.recv() => recorder.apply(message).context(UNWRITABLE)?,
        }
    }
    // What the informers have delivered until now.
    while let (Ok(message), false) = (messages.try_recv(), recorder.is_at_limit()) {
        recorder.apply(message).context(UNWRITABLE)?;
    }
    Ok(())
}

/// Returns for instance `Recorded 7 changes of 3 objects: 4.1 KiB, from 2026-11-27T14:00:00Z to 2026-11-27T14:05:00Z.`
fn summary(recorder: &Recorder) -> String {
    recorded(recorder.changes(), recorder.objects(), recorder.length(), (recorder.started(), recorder.last()))
}

fn recorded(changes: usize, objects: usize, length: u64, (from, to): (Timestamp, Timestamp)) -> String {
    format!(
        "Recorded {changes} change{} of {objects} object{}: {}, from {} to {}.",
        plural(changes),
        plural(objects),
        shown_size(length),
        second(from),
        second(to)
    )
}

/// Returns a size with one decimal place, in a unit in which it is less than 1,024.
fn shown_size(bytes: u64) -> String {
    let unit = ["KiB", "MiB", "GiB"].into_iter().zip([10, 20, 30]).rfind(|(_, shift)| bytes >> shift > 0);
    match unit {
        // Tenths of the unit, rounded down.
        Some((unit, shift)) => {
            let tenths = (u128::from(bytes) * 10) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "0 bytes")]
    #[case(1_023, "1023 bytes")]
    #[case(1_024, "1.0 KiB")]
    #[case(1_999, "1.9 KiB")]
    #[case(16 << 20, "16.0 MiB")]
    #[case(3 << 29, "1.5 GiB")]
    #[case(5_000 << 30, "5000.0 GiB")]
    fn sizes_are_shown_with_a_unit(#[case] bytes: u64, #[case] expect: &str) {
        assert_eq!(shown_size(bytes), expect);
    }
}
