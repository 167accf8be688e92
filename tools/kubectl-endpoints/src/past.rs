//! The objects of a recorded moment, in place of those of the cluster.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{anyhow, bail};
use jiff::Timestamp;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::{ObjectRef, text};
use kube_endpoints_history::{Author, Change, Gap, Header, Kind, Recorded, Select, UnknownWrite, What};

use crate::args::GlobalArgs;
use crate::fetch::{Objects, last_write};
use crate::output::second as shown;
use crate::source::{Part, Source};

/// The objects of a moment.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) objects: Objects,
    /// The moment.
    pub(crate) time: Timestamp,
}

/// What is known of the writes of objects.
#[derive(Default)]
struct Writes {
    /// Authors of the writes since the beginning of the segment.
    authors: BTreeMap<(Kind, ObjectKey), Author>,
    /// Times of the last writes of objects whose content since then is unknown.
    outdated: BTreeMap<(Kind, ObjectKey), Timestamp>,
}

impl Past {
    /// Reads the objects of a namespace, or of all, at the moment of `--at`; without it, of the last record. Nodes are of all
    /// namespaces.
    ///
    /// Fails if the history cannot be read, and if it begins after the moment or ends before it.
    pub(crate) async fn read(args: &GlobalArgs, source: Source<'_>, namespace: Option<&str>) -> anyhow::Result<Past> {
        let moment = args.at.map(|at| at.time(kube_ambient::now()));
        let part = Part { namespace, since: moment, until: moment, ..Part::default() };
        let mut archive = source.open(args, part).await?;
        let starts: Vec<Timestamp> = archive.headers().map(|header| header.started).collect();
        let ([first, ..], Some(end)) = (&starts[..], archive.end()?) else { bail!("{source} has no records") };
        let (first, at) = (*first, moment.unwrap_or(end));
        // Times are printed in whole seconds.
        if at.as_second() < first.as_second() || at.as_second() > end.as_second() {
            return Err(not_within(at, first, end));
        }
        let at = at.max(first);
        let started = starts[starts.partition_point(|started| *started <= at) - 1];
        let select = namespace.map_or(Select::All, |namespace| Select::Namespace(namespace.into()));
        let mut replay = archive.replay(select, started)?;
        let header = replay.header().cloned();
        let mut writes = Writes::default();
        let mut ends_in_gap = None;
        while replay.time_of_next()?.is_some_and(|next| next <= at) {
            let Some(change) = replay.next_change()? else { break };
            ends_in_gap = in_a_gap(&change, at);
            writes.add(change);
        }
        let mut objects = writes.into_objects(replay.objects());
        objects.warnings.extend(not_recorded(header.iter()));
        objects.unknown.extend(header.into_iter().flat_map(|header| header.unknown));
        objects.warnings.extend(replay.next_change()?.and_then(|next| in_a_gap(&next, at)).or(ends_in_gap));
        Ok(Past { objects, time: at })
    }
}

/// Returns the error about a moment before the beginning of a history, or after its end.
pub(crate) fn not_within(at: Timestamp, first: Timestamp, end: Timestamp) -> anyhow::Error {
    let [at, first, end] = [at, first, end].map(shown);
    anyhow!("the history has no record of {at}: it reaches from {first} to {end}")
}

/// Returns the warning about kinds that the recorder could not read; `None` if it could read all.
pub(crate) fn not_recorded<'a>(headers: impl Iterator<Item = &'a Header>) -> Option<String> {
    let unknown: BTreeSet<Kind> = headers.flat_map(|header| header.unknown.iter().copied()).collect();
    let unknown: Vec<Kind> = unknown.into_iter().collect();
    (!unknown.is_empty()).then(|| format!("the recorder {}", text::may_not_read(&unknown)))
}

/// Returns the warning for a moment in a gap, or at its end.
fn in_a_gap(Change { seen, what, .. }: &Change, at: Timestamp) -> Option<String> {
    let What::Gap(Gap { since, reason }) = what else { return None };
    let (from, to) = (shown(*since), shown(*seen));
    let is_within = since < seen && (*since..=*seen).contains(&at);
    is_within.then(|| format!("changes between {from} and {to} may be missing: {reason}"))
}

impl Writes {
    fn add(&mut self, change: Change) {
        match change.what {
            What::Put { after, .. } => {
                let key = (after.kind(), after.key());
                match change.author {
                    Some(author) => self.authors.insert(key.clone(), author),
                    None => self.authors.remove(&key),
                };
                self.outdated.remove(&key);
            }
            What::Removed(before) => {
                let key = (before.kind(), before.key());
                self.authors.remove(&key);
                self.outdated.remove(&key);
            }
            What::Unknown(UnknownWrite { kind, key, .. }) => {
                self.outdated.insert((kind, key), change.seen);
            }
            What::Gap(_) => {}
        }
    }

    /// Returns the warning about objects whose last write is recorded without its content.
    fn outdated(&self) -> Option<String> {
        let ((kind, key), time) = self.outdated.iter().next()?;
        let example = format!("{} was written at {}", ObjectRef::new(*kind, key), shown(*time));
        let more = match self.outdated.len() {
            1 => String::new(),
            count => format!(", and {} other objects", count - 1),
        };
        Some(format!("the audit log does not have what some objects contain: {example}{more}"))
    }

    /// Returns the objects with what is known of their writes.
    fn into_objects<'a>(self, recorded: impl Iterator<Item = &'a Recorded>) -> Objects {
        let mut objects = Objects::default();
        objects.warnings.extend(self.outdated());
        for ((kind, key), author) in self.authors {
            if let (Kind::Endpoints | Kind::EndpointSlice, Some(write)) = (kind, last_write(&author)) {
                objects.last_writes.push((ObjectRef::new(kind, &key), write));
            }
        }
        for object in recorded {
            match object.clone() {
                Recorded::Service(it) => objects.services.push(it),
                Recorded::Pod(it) => objects.pods.push(it),
                Recorded::Node(it) => objects.nodes.push(it),
                Recorded::Endpoints(it) => objects.endpoints.push(it),
                Recorded::EndpointSlice(it) => objects.slices.push(it),
            }
        }
        objects
    }
}
