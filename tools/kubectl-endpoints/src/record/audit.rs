//! `record --from-audit-log`: writes the changes in audit logs into a history file.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use jiff::{SignedDuration, Timestamp};
use kube_endpoints_history::audit::{AuditLogs, Skipped, Summary};
use kube_endpoints_history::recorder::{Message, OneFile, Recorder};
use kube_endpoints_history::{Change, Encoder, Gap, What};

use super::{PROGRAM, UNWRITABLE, recorded};
use crate::args::{GlobalArgs, RecordArgs};
use crate::file_identity::FileIdentity;
use crate::output::{message, warn};

/// Records the logs. Lines that cannot be used are warnings; logs without an event are an error.
pub(super) fn run(global: &GlobalArgs, args: &RecordArgs) -> anyhow::Result<ExitCode> {
    let namespace = global.namespace.as_deref().filter(|_| !global.all_namespaces);
    let mut logs = AuditLogs::new(namespace);
    for path in &args.from_audit_log {
        let name = path.display().to_string();
        add(&mut logs, &name, path).with_context(|| format!("cannot read {name}"))?;
    }
    let before: Vec<_> = logs.objects().cloned().collect();
    let Some(first) = logs.summary().first else {
        let lines = skipped("lines that are no audit event", &logs.summary().foreign);
        bail!("there is no audit event in the files{}", lines.map(|it| format!("; {it}")).unwrap_or_default());
    };
    // The first change is one, and not the state before.
    let started = first.saturating_sub(SignedDuration::from_millis(1)).unwrap_or(first);
    let mut recorder = Recorder::new(Encoder::new(PROGRAM, [])?, OneFile::new(&args.to, u64::MAX));
    for object in before {
        recorder.apply(Message::put(started, None, object, true))?;
    }
    recorder.begin(started).with_context(|| format!("cannot write {}", args.to.display()))?;
    while let Some(change) = logs.next_change() {
        recorder.apply(Message { change, is_listed: true }).context(UNWRITABLE)?;
    }
    let summary = logs.summary();
    let last = summary.last.unwrap_or(started);
    gaps(last, summary).try_for_each(|gap| recorder.apply(gap)).context(UNWRITABLE)?;
    recorder.finish(last).context(UNWRITABLE)?;
    report(summary);
    message("", recorded(recorder.changes(), recorder.objects(), recorder.length(), (first, last)));
    Ok(ExitCode::SUCCESS)
}

/// Adds a log. What is no file, such as a pipe, stays open.
fn add(logs: &mut AuditLogs, name: &str, path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return logs.add(name, file);
    }
    logs.add(name, ClosedFile { path: path.to_owned(), identity: FileIdentity::of(&metadata), position: 0 })
}

/// A file that is open only while it is read: there can be more logs than a process may open.
struct ClosedFile {
    path: PathBuf,
    identity: FileIdentity,
    position: u64,
}

impl Read for ClosedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(&self.path)?;
        if FileIdentity::of(&file.metadata()?) != self.identity {
            return Err(io::Error::other("another file has taken its place"));
        }
        file.seek(SeekFrom::Start(self.position))?;
        let read = file.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

/// Returns what the files lack.
fn gaps(last: Timestamp, summary: &Summary) -> impl Iterator<Item = Message> {
    let gap = move |since, reason: &str| {
        let what = What::Gap(Gap { since, reason: reason.into() });
        Message { change: Change { seen: last, author: None, what }, is_listed: true }
    };
    let first = summary.first.unwrap_or(last);
    let unreadable = summary
        .unreadable
        .iter()
        .map(move |(file, error)| gap(first, &format!("{file} could not be read to its end: {error}")));
    unreadable.chain([gap(last, "the audit log ends")])
}

/// Prints what was read, and a warning for everything that could not be known.
fn report(summary: &Summary) {
    let [metadata, request, response] = summary.events;
    let Summary { writes, others, without_effect, .. } = summary;
    message(
        "",
        format_args!(
            "Read {} audit events ({metadata} at level Metadata, {request} Request, {response} RequestResponse): {writes} writes, \
             {others} of other objects, {without_effect} without an effect.",
            metadata + request + response
        ),
    );
    let [printed, used] = summary.objects;
    if printed > 0 {
        message(
            "",
            format_args!(
                "{used} of {printed} printed objects are older than the first write, and are the state before it."
            ),
        );
    }
    let count = |count: u64, what: &str, then: &str| (count > 0).then(|| format!("{what}: {count}{then}"));
    let warnings = [
        count(
            summary.without_content,
            "writes without the content of their objects",
            "; the history names who wrote them",
        ),
        count(summary.unnamed, "writes that are missing, because the log does not have the names of their objects", ""),
        count(
            summary.late,
            "writes with the time of a later one, because the files are not in order",
            "; `gcloud logging read` needs --order=asc",
        ),
        skipped("lines that are no audit event", &summary.foreign),
        skipped("events that are missing, because they are longer than 8 MiB", &summary.too_long),
    ];
    warnings.into_iter().flatten().for_each(warn);
    for (file, error) in &summary.unreadable {
        warn(format_args!("{file} could not be read to its end: {error}"));
    }
}

fn skipped(what: &str, Skipped { count, first }: &Skipped) -> Option<String> {
    let (file, line) = first.as_ref()?;
    Some(format!("{what}: {count}, first line {line} of {file}"))
}
