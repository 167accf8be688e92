//! `record --from-audit-log`: writes the changes in audit logs into a history file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use jiff::{SignedDuration, Timestamp};
use kube_endpoints_history::audit::{AuditChange, AuditLogs, Skipped, Summary};
use kube_endpoints_history::{Encoder, Gap, What};

use super::{PROGRAM, UNWRITABLE, recorded};
use crate::args::{GlobalArgs, RecordArgs};
use crate::output::{message, warn};

/// Length of a segment after which the next one begins.
const LONGEST_SEGMENT: u64 = 16 << 20;
/// Age of a segment after which the next one begins, if it has [`FEWEST_CHANGES`].
const OLDEST_SEGMENT: SignedDuration = SignedDuration::from_hours(1);
/// Each segment begins with the state of all objects.
const FEWEST_CHANGES: usize = 1_000;

/// A history file that is being written.
struct Writer {
    encoder: Encoder,
    file: File,
    out: Vec<u8>,
    length: u64,
    segment_started: Timestamp,
    /// Number of records of the segment.
    records: usize,
    changes: usize,
    /// Number of objects that were recorded, including those that no longer exist.
    objects: usize,
}

/// Records the logs. Lines that cannot be used are warnings; logs without an event are an error.
pub(super) fn run(global: &GlobalArgs, args: &RecordArgs) -> anyhow::Result<ExitCode> {
    let namespace = global.namespace.as_deref().filter(|_| !global.all_namespaces);
    let mut logs = AuditLogs::new(namespace);
    for path in &args.from_audit_log {
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| logs.add(&name, file));
        opened.with_context(|| format!("cannot read {name}"))?;
    }
    let before: Vec<_> = logs.objects().cloned().collect();
    let Some(first) = logs.summary().first else {
        let lines = skipped("lines that are no audit event", &logs.summary().foreign);
        bail!("there is no audit event in the files{}", lines.map(|it| format!("; {it}")).unwrap_or_default());
    };
    // The first change is one, and not the state before.
    let started = first.saturating_sub(SignedDuration::from_millis(1)).unwrap_or(first);
    let mut encoder = Encoder::new(PROGRAM, [])?;
    let objects = before.len();
    for object in before {
        encoder.put(started, None, object);
    }
    let mut writer = Writer::begin(encoder, started, &args.to)?;
    writer.objects = objects;
    while let Some(change) = logs.next_change() {
        writer.record(change).context(UNWRITABLE)?;
    }
    let summary = logs.summary();
    let last = summary.last.unwrap_or(started);
    writer.finish(last, summary).context(UNWRITABLE)?;
    report(summary);
    message("", recorded(writer.changes, writer.objects, writer.length, (first, last)));
    Ok(ExitCode::SUCCESS)
}

impl Writer {
    fn begin(encoder: Encoder, started: Timestamp, path: &Path) -> anyhow::Result<Writer> {
        let unwritable = || format!("cannot write {}", path.display());
        let file = File::create_new(path).with_context(unwritable)?;
        let (out, length, segment_started) = (Vec::new(), 0, started);
        let mut writer = Writer { encoder, file, out, length, segment_started, records: 0, changes: 0, objects: 0 };
        writer.begin_segment(started).with_context(unwritable)?;
        Ok(writer)
    }

    fn record(&mut self, change: AuditChange) -> io::Result<()> {
        let seen = change.seen;
        self.objects += usize::from(matches!(change.what, What::Put { before: None, .. }));
        self.changes += usize::from(!matches!(&change.what, What::Unknown(write) if !write.is_recorded));
        self.records += 1;
        change.record(&mut self.encoder);
        if self.encoder.is_full() {
            self.encoder.flush(&mut self.out)?;
            self.write()?;
        }
        let age = seen.duration_since(self.segment_started);
        let is_old = age >= OLDEST_SEGMENT && self.records >= FEWEST_CHANGES;
        if is_old || self.encoder.segment_length() >= LONGEST_SEGMENT {
            self.encoder.end_segment(&mut self.out)?;
            self.begin_segment(seen)?;
        }
        Ok(())
    }

    /// Records what the files lack, and the end.
    fn finish(&mut self, last: Timestamp, summary: &Summary) -> io::Result<()> {
        let gap = |since: Timestamp, reason: &str| Gap { since, reason: reason.into() };
        for (file, error) in &summary.unreadable {
            let reason = format!("{file} could not be read to its end: {error}");
            self.encoder.gap(last, &gap(summary.first.unwrap_or(last), &reason));
        }
        self.encoder.gap(last, &gap(last, "the audit log ends"));
        self.encoder.end_segment(&mut self.out)?;
        self.write()?;
        self.file.sync_data()
    }

    fn begin_segment(&mut self, now: Timestamp) -> io::Result<()> {
        self.encoder.begin_segment(now, &mut self.out)?;
        (self.segment_started, self.records) = (now, 0);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.out)?;
        self.length += self.out.len() as u64;
        self.out.clear();
        Ok(())
    }
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
