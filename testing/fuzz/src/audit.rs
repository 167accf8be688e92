//! Check of the reader of audit logs.

use std::io::{Cursor, Read};

use jiff::Timestamp;
use kube_endpoints_history::audit::{AuditLogs, Summary};
use kube_endpoints_history::{Archive, Change, Encoder, Recorded, Select};

/// First byte of an input whose log arrives at once.
pub const AT_ONCE: u8 = u8::MAX;

/// Reads an audit log, and then the history of its changes. Returns whether every line of the log is an event or an object; other
/// logs must cause no panic either. The first byte is the length of the parts in which the log arrives, which must make no difference.
///
/// # Panics
///
/// What is read depends on the parts, or the history of the changes cannot be read.
pub fn audit(bytes: &[u8]) -> bool {
    let Some((length, log)) = bytes.split_first() else { return false };
    let at_once = read(log, usize::MAX);
    assert_eq!(at_once, read(log, usize::from(*length).max(2)), "the log was read in parts");
    let Some(Log { before, changes, summary }) = at_once else { return false };
    record(before, changes);
    summary.foreign.count == 0 && summary.events.iter().sum::<u64>() > 0
}

#[derive(Debug, PartialEq)]
struct Log {
    before: Vec<Recorded>,
    changes: Vec<Change>,
    summary: Summary,
}

fn read(log: &[u8], part: usize) -> Option<Log> {
    let mut logs = AuditLogs::new(None);
    logs.add("log", Parts { rest: Cursor::new(log.to_vec()), length: part }).ok()?;
    let before = logs.objects().cloned().collect();
    let changes = std::iter::from_fn(|| logs.next_change()).collect();
    Some(Log { before, changes, summary: logs.summary().clone() })
}

/// Writes a history, and reads it.
fn record(before: Vec<Recorded>, changes: Vec<Change>) {
    let Some(start) = changes.first().map(|change| change.seen) else { return };
    let (mut encoder, mut file) = (Encoder::new("fuzz", []).expect("memory"), Vec::new());
    for object in before {
        encoder.put(start, None, object);
    }
    encoder.begin_segment(start, &mut file).expect("memory");
    for change in changes {
        change.record(&mut encoder);
        if encoder.is_full() {
            encoder.flush(&mut file).expect("memory");
        }
    }
    encoder.end_segment(&mut file).expect("memory");
    let mut archive = Archive::from_buffers([file]).expect("a history");
    let mut replay = archive.replay(Select::All, Timestamp::MIN).expect("a state");
    while replay.next_change().expect("a change").is_some() {}
}

/// A file that arrives in parts.
struct Parts {
    rest: Cursor<Vec<u8>>,
    length: usize,
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.length);
        self.rest.read(&mut buffer[..length])
    }
}
