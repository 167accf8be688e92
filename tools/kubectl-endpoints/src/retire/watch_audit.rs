//! An audit log that a run follows as it grows.

use std::fs::{self, File};
use std::io::{self, Cursor, Read as _, Seek as _, SeekFrom};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use kube_endpoints_history::audit::reads::Reads;
use kube_endpoints_retire::WholeEndpoints;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval};

use crate::file_identity::FileIdentity;

const POLL: Duration = Duration::from_millis(250);
/// Number of polls in a row without a file, 10 s: a rotation renames it before it creates the next one.
const MOST_POLLS_WITHOUT_FILE: u32 = 40;
/// Longest line in bytes, as that of a value that [`Reads`] reads.
const LONGEST_LINE: usize = 8 << 20;
/// Such an event can be a read.
const TOO_LONG: &str = "has an event that is longer than 8 MiB, which is not read";
/// Largest number of bytes that are read at once.
const CHUNK: u64 = 8 << 20;

/// An audit log, and the objects whose readers stop a run.
pub(super) struct AuditWatch {
    name: String,
    objects: Vec<Arc<WholeEndpoints>>,
    reads: Receiver<anyhow::Result<Reads>>,
    has_events: bool,
}

impl AuditWatch {
    /// Starts to follow a log.
    pub(super) fn start(log: AuditLog, objects: Vec<Arc<WholeEndpoints>>, tasks: &mut JoinSet<()>) -> AuditWatch {
        let (name, (sender, reads)) = (log.name(), channel(1));
        tasks.spawn(follow(log, sender));
        AuditWatch { name, objects, reads, has_events: false }
    }

    /// Returns the name of the file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = &WholeEndpoints> {
        self.objects.iter().map(|object| &**object)
    }

    /// Returns whether the log has had an event since the start.
    pub(super) fn has_events(&self) -> bool {
        self.has_events
    }

    /// Returns new requests, without waiting for them.
    pub(super) fn try_next(&mut self) -> Option<anyhow::Result<Reads>> {
        let reads = self.reads.try_recv().ok()?;
        self.note(&reads);
        Some(reads)
    }

    fn note(&mut self, reads: &anyhow::Result<Reads>) {
        self.has_events |= reads.as_ref().is_ok_and(|reads| reads.files.iter().any(|file| file.events > 0));
    }
}

/// Waits for new requests, without a log or after its error forever.
pub(super) async fn next(audit: &mut Option<AuditWatch>) -> anyhow::Result<Reads> {
    if let Some(audit) = audit
        && let Some(reads) = audit.reads.recv().await
    {
        audit.note(&reads);
        return reads;
    }
    std::future::pending().await
}

/// Sends what is new. Ends after an error.
async fn follow(log: AuditLog, sender: Sender<anyhow::Result<Reads>>) {
    if let Err(error) = send_reads(log, &sender).await {
        // Without a receiver, the run has ended.
        let _ = sender.send(Err(error)).await;
    }
}

/// Sends what is new, until there is no receiver.
async fn send_reads(mut log: AuditLog, sender: &Sender<anyhow::Result<Reads>>) -> anyhow::Result<()> {
    let mut polls = interval(POLL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        polls.tick().await;
        loop {
            let reads;
            (log, reads) = spawn_blocking(move || log.next().map(|reads| (log, reads))).await??;
            let Some(reads) = reads else { break };
            if sender.send(Ok(reads)).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// The lines that are added to an audit log, also after it was rotated or truncated.
#[derive(Debug)]
pub(super) struct AuditLog {
    path: PathBuf,
    file: File,
    position: u64,
    /// What follows the last complete line.
    rest: Vec<u8>,
    /// The file that has taken the place of this one, which is read to its end before.
    successor: Option<File>,
    polls_without_file: u32,
}

impl AuditLog {
    /// Opens a file at its end.
    pub(super) fn open(path: &Path) -> anyhow::Result<AuditLog> {
        let cannot = || format!("cannot read {}", path.display());
        // A pipe would be waited for.
        if !fs::metadata(path).with_context(cannot)?.is_file() {
            bail!("{} is not a file", path.display());
        }
        let mut file = File::open(path).with_context(cannot)?;
        let position = file.seek(SeekFrom::End(0)).with_context(cannot)?;
        let path = path.to_owned();
        Ok(AuditLog { path, file, position, rest: Vec::new(), successor: None, polls_without_file: 0 })
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the requests of new lines; `None` without any.
    fn next(&mut self) -> anyhow::Result<Option<Reads>> {
        let lines = self.lines().with_context(|| format!("{} cannot be followed any more", self.path.display()))?;
        let Some(lines) = lines else { return Ok(None) };
        let mut reads = Reads::default();
        reads.add(&self.name(), Cursor::new(lines))?;
        if reads.files.iter().any(|file| file.too_long > 0) {
            bail!("{} {TOO_LONG}", self.path.display());
        }
        Ok(Some(reads))
    }

    /// Returns new complete lines; `None` without any.
    fn lines(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        loop {
            let read = (&mut self.file).take(CHUNK).read_to_end(&mut self.rest)?;
            if read == 0 {
                if self.is_continued()? {
                    continue;
                }
                return Ok(None);
            }
            self.position += read as u64;
            let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if self.rest.len() - end > LONGEST_LINE {
                bail!("it {TOO_LONG}");
            }
            if end > 0 {
                let rest = self.rest.split_off(end);
                return Ok(Some(mem::replace(&mut self.rest, rest)));
            }
        }
    }

    /// Returns whether there is more to read after the end of the file: it was truncated, or another one has taken its place.
    fn is_continued(&mut self) -> io::Result<bool> {
        if let Some(successor) = self.successor.take() {
            self.file = successor;
            self.begin();
            return Ok(true);
        }
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.polls_without_file += 1;
                return if self.polls_without_file > MOST_POLLS_WITHOUT_FILE { Err(error) } else { Ok(false) };
            }
            Err(error) => return Err(error),
        };
        self.polls_without_file = 0;
        let metadata = file.metadata()?;
        if FileIdentity::of(&metadata) != FileIdentity::of(&self.file.metadata()?) {
            self.successor = Some(file);
            return Ok(true);
        }
        if metadata.len() < self.position {
            self.file.seek(SeekFrom::Start(0))?;
            self.begin();
            return Ok(true);
        }
        Ok(false)
    }

    fn begin(&mut self) {
        self.position = 0;
        self.rest.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;
    use std::thread;

    use futures::FutureExt as _;
    use serde_json::json;
    use tempfile::TempDir;
    use tokio::runtime::Builder;
    use tokio::task::JoinError;

    use super::*;

    /// Returns the line of a `list` by a user.
    fn line(user: &str) -> String {
        let event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
            "verb": "list", "user": {"username": user}, "userAgent": "curl/8.5.0", "requestURI": "/api/v1/endpoints",
            "objectRef": {"resource": "endpoints"}, "stageTimestamp": "2026-11-27T14:00:00Z",
        });
        format!("{event}\n")
    }

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("opened");
        file.write_all(text.as_bytes()).expect("written");
    }

    /// Returns a log that has the line of one user already.
    fn log() -> (TempDir, PathBuf, AuditLog) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.log");
        append(&path, &line("before"));
        let log = AuditLog::open(&path).expect("opened");
        (folder, path, log)
    }

    /// Returns the users of all new lines.
    fn users(log: &mut AuditLog) -> Vec<String> {
        let mut users = Vec::new();
        while let Some(reads) = log.next().expect("readable") {
            users.extend(reads.requests().map(|(request, _)| request.user.clone()));
        }
        users
    }

    #[test]
    fn new_lines_are_read_when_they_are_complete() {
        let (_folder, path, mut log) = log();
        assert_eq!(users(&mut log), [""; 0]);
        append(&path, &format!("{}{}no event\n", line("a"), line("b")));
        assert_eq!(users(&mut log), ["a", "b"]);
        let line = line("c");
        let (start, end) = line.split_at(40);
        append(&path, start);
        assert_eq!(users(&mut log), [""; 0]);
        append(&path, end);
        assert_eq!((users(&mut log), users(&mut log)), (vec!["c".to_owned()], Vec::new()));
    }

    #[test]
    fn a_rotated_log_is_read_to_its_end_and_then_the_next_one() {
        let (folder, path, mut log) = log();
        append(&path, &line("a"));
        assert_eq!(users(&mut log), ["a"]);
        append(&path, &line("b"));
        let rotated = folder.path().join("audit-1.log");
        fs::rename(&path, &rotated).expect("renamed");
        assert_eq!(users(&mut log), ["b"]);
        // The line after the last poll, and one that is cut off.
        append(&rotated, &(line("c") + &line("lost")[..40]));
        append(&path, &line("d"));
        assert_eq!(users(&mut log), ["c", "d"]);
        append(&path, &line("e"));
        assert_eq!(users(&mut log), ["e"]);
    }

    #[test]
    fn a_truncated_log_is_read_from_its_start() {
        let (_folder, path, mut log) = log();
        append(&path, &(line("a") + &line("lost")[..40]));
        assert_eq!(users(&mut log), ["a"]);
        fs::write(&path, line("b")).expect("written");
        assert_eq!(users(&mut log), ["b"]);
    }

    #[test]
    fn a_log_may_be_missing_for_a_short_time() {
        let (_folder, path, mut log) = log();
        for _ in 0..2 {
            fs::remove_file(&path).expect("removed");
            for _ in 0..MOST_POLLS_WITHOUT_FILE {
                assert!(log.next().expect("readable").is_none());
            }
            append(&path, &line("a"));
            assert_eq!(users(&mut log), ["a"]);
        }
        fs::remove_file(&path).expect("removed");
        let error = (0..=MOST_POLLS_WITHOUT_FILE).find_map(|_| log.next().err()).expect("an error");
        assert_eq!(error.to_string(), format!("{} cannot be followed any more", path.display()));
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error() {
        for end in ["", "\"}\n"] {
            let (_folder, path, mut log) = log();
            append(&path, &format!("{{\"kind\":\"{}{end}", "x".repeat(LONGEST_LINE)));
            let error = log.next().expect_err("too long");
            assert!(format!("{error:#}").contains("has an event that is longer than 8 MiB"), "{error:#}");
        }
    }

    #[test]
    fn the_runtime_may_end_during_a_poll() {
        let (_folder, path, _) = log();
        // A line without an end takes time, and is no event.
        append(&path, &"x".repeat(LONGEST_LINE / 8));
        for yields in (0..6_000).step_by(200) {
            let mut log = AuditLog::open(&path).expect("opened");
            log.file.seek(SeekFrom::Start(line("before").len() as u64)).expect("found");
            let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("a runtime");
            let (sender, mut reads) = channel(1);
            let following = runtime.spawn(follow(log, sender));
            (0..yields).for_each(|_| thread::yield_now());
            drop(runtime);
            // The cancelled read can end the task before the runtime does.
            let ended = following.now_or_never().expect("an end").err().unwrap_or_else(|| {
                let error = reads.try_recv().expect("the reason").expect_err("nothing to read");
                error.downcast::<JoinError>().expect("the error of the read")
            });
            assert!(ended.is_cancelled(), "{ended} after {yields} yields");
        }
    }

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = |path: &Path| AuditLog::open(path).expect_err("no file").to_string();
        assert!(error(folder.path()).ends_with(" is not a file"));
        assert!(error(&folder.path().join("audit.log")).starts_with("cannot read "));
    }
}
