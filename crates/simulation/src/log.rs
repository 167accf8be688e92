//! What happened in a run, in order.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::fault::{Disturbance, Fault};
use crate::point::Point;
use crate::request::Target;
use crate::script::Operation;

/// The record of one run. Two runs of one seed have equal logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    entries: Vec<Entry>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Virtual time since the start of the run.
    pub at: Duration,
    /// What happened.
    pub what: Happening,
}

/// Kinds of [`Entry`].
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// The user sent a request.
    User {
        /// What was asked for.
        operation: Operation,
        /// Status code of the answer.
        code: u16,
    },
    /// A request of a process reached the server, or was answered in its place.
    Request {
        /// Its name.
        point: Point,
        /// What it is about.
        target: Target,
        /// Body of a write.
        body: Bytes,
        /// Status code of the server's answer; `None` if the server never saw the request.
        code: Option<u16>,
        /// Error text of a refusal, or the object that the server stored.
        answer: Bytes,
    },
    /// A watch delivered an event.
    Event {
        /// Its name.
        point: Point,
        /// The frame, JSON or protobuf.
        frame: Bytes,
    },
    /// A fault occurred.
    Fault {
        /// Where.
        point: Point,
        /// What.
        fault: Fault,
    },
    /// A disturbance occurred.
    Disturbance(Disturbance),
    /// A process was started.
    Started {
        /// The process.
        process: String,
    },
    /// A process ended: it was killed, or ended by itself with this result.
    Ended {
        /// The process.
        process: String,
        /// Why.
        reason: String,
    },
    /// A requirement was not met.
    Violation(String),
}

impl Log {
    pub(crate) fn push(&mut self, at: Duration, what: Happening) {
        self.entries.push(Entry { at, what });
    }

    /// All entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Successful creates, updates, patches and deletes of the processes, as point and target.
    pub fn writes(&self) -> impl Iterator<Item = (&Point, &Target)> {
        self.entries.iter().filter_map(|entry| match &entry.what {
            Happening::Request { point, target, code: Some(200..300), .. } if point.verb.is_write() => {
                Some((point, target))
            }
            _ => None,
        })
    }

    /// One line for each entry, for people and for comparisons. The lines are complete: two runs whose texts are equal sent
    /// and received the same bytes.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let _ = writeln!(text, "{:>10.3} {}", entry.at.as_secs_f64(), Line(&entry.what));
        }
        text
    }

    /// The entries that tell a reader what happened: no bookmarks, no successful reads, no renewals of leases.
    pub fn timeline(&self) -> String {
        let mut text = String::new();
        for entry in self.entries.iter().filter(|entry| tells(&entry.what)) {
            let mut line = Line(&entry.what).to_string();
            if line.len() > WIDTH {
                let end = (0..=WIDTH).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
                line.truncate(end);
                line.push('…');
            }
            let _ = writeln!(text, "{:>10.3} {line}", entry.at.as_secs_f64());
        }
        text
    }
}

/// Longest line of a timeline, in bytes.
const WIDTH: usize = 400;

fn tells(what: &Happening) -> bool {
    match what {
        Happening::Request { point, code, .. } => {
            point.resource != "leases" && (point.verb.is_write() || !matches!(code, Some(200..300)))
        }
        Happening::Event { point, frame } => {
            point.resource != "leases"
                && serde_json::from_slice::<Value>(frame).is_ok_and(|event| event["type"] != "BOOKMARK")
        }
        _ => true,
    }
}

struct Line<'a>(&'a Happening);

impl std::fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Happening::User { operation, code } => write!(f, "user     {operation} -> {code}"),
            Happening::Request { point, target, body, code, answer } => {
                let Target { namespace, name, subresource, .. } = target;
                write!(f, "{:<8} {} {}", point.process, point.verb, point.resource)?;
                for part in [namespace, name, subresource].into_iter().filter(|part| !part.is_empty()) {
                    write!(f, " {part}")?;
                }
                write!(f, " #{}", point.nth)?;
                if !body.is_empty() {
                    write!(f, " {}", text(body))?;
                }
                match code {
                    Some(code) => write!(f, " -> {code}")?,
                    None => f.write_str(" -> lost")?,
                }
                if !answer.is_empty() {
                    write!(f, " {}", text(answer))?;
                }
                Ok(())
            }
            Happening::Event { point, frame } => {
                write!(f, "{:<8} event {} #{} {}", point.process, point.resource, point.nth, text(frame))
            }
            Happening::Fault { point, fault } => write!(f, "FAULT    {point}={fault}"),
            Happening::Disturbance(disturbance) => write!(f, "FAULT    {disturbance}"),
            Happening::Started { process } => write!(f, "{process:<8} started"),
            Happening::Ended { process, reason } => write!(f, "{process:<8} ended: {reason}"),
            Happening::Violation(text) => write!(f, "VIOLATION {text}"),
        }
    }
}

/// JSON as it is, anything else with its unprintable bytes escaped.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_end().to_owned(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}
