//! The objects of a recorded moment, in place of those of the cluster.

mod selector;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use jiff::Timestamp;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::{Kind as Explained, LastWrite, ObjectRef, text};
use kube_endpoints_history::{Archive, Author, Change, Gap, Kind, Recorded, Select, What};

pub(crate) use self::selector::LabelSelector;
use crate::args::GlobalArgs;
use crate::fetch::Objects;

/// The objects of a moment.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) objects: Objects,
    /// The moment.
    pub(crate) time: Timestamp,
}

/// Objects by kind and name, and who wrote them last.
#[derive(Default)]
struct State {
    objects: BTreeMap<(Kind, ObjectKey), Recorded>,
    /// Authors of the writes since the beginning of the segment.
    authors: BTreeMap<(Kind, ObjectKey), Author>,
}

impl Past {
    /// Reads the objects of a namespace, or of all, at the moment of `--at`; without it, of the last record. Nodes are of all
    /// namespaces.
    ///
    /// Fails if the history cannot be read, and if it begins after the moment or ends before it.
    pub(crate) fn read(args: &GlobalArgs, path: &Path, namespace: Option<&str>) -> anyhow::Result<Past> {
        let mut archive = Archive::open(path)?;
        let starts: Vec<Timestamp> = archive.headers().map(|header| header.started).collect();
        let [first, ..] = starts[..] else { bail!("{} has no records", path.display()) };
        let mut at = args.at.map_or(Timestamp::MAX, |at| at.time(kube_ambient::now()));
        // Times are printed in whole seconds.
        if at.as_second() == first.as_second() {
            at = at.max(first);
        }
        if at < first {
            bail!("{}", no_record(at, first, end(&mut archive)?));
        }
        let started = starts[starts.partition_point(|started| *started <= at) - 1];
        let select = namespace.map_or(Select::All, |namespace| Select::Namespace(namespace.into()));
        let mut replay = archive.replay(select, started)?;
        let unknown: Vec<Explained> =
            replay.header().into_iter().flat_map(|header| &header.unknown).map(|kind| Explained::from(*kind)).collect();
        let objects = replay.objects().map(|object| ((object.kind(), object.key()), object.clone())).collect();
        let mut state = State { objects, authors: BTreeMap::new() };
        let mut time = started;
        let next = loop {
            match replay.next_change()? {
                Some(change) if change.seen <= at => {
                    time = change.seen;
                    state.apply(change);
                }
                next => break next,
            }
        };
        if args.at.is_some() {
            if next.is_none() && at > time {
                let end = end(&mut archive)?;
                if at > end {
                    bail!("{}", no_record(at, first, end));
                }
            }
            time = at;
        }
        let mut objects = state.into_objects();
        if !unknown.is_empty() {
            objects.warnings.push(format!("the recorder {}", text::may_not_read(&unknown)));
            objects.unknown.extend(unknown);
        }
        objects.warnings.extend(next.and_then(|next| in_a_gap(&next, at)));
        Ok(Past { objects, time })
    }
}

/// Returns the time of the last record.
fn end(archive: &mut Archive) -> anyhow::Result<Timestamp> {
    let mut end = archive.headers().last().map_or(Timestamp::MIN, |header| header.started);
    let mut replay = archive.replay(Select::All, end)?;
    while let Some(change) = replay.next_change()? {
        end = end.max(change.seen);
    }
    Ok(end)
}

/// Formats a time so that `--at` accepts it.
fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn no_record(at: Timestamp, first: Timestamp, end: Timestamp) -> String {
    format!("the history has no record of {}: it reaches from {} to {}", shown(at), shown(first), shown(end))
}

/// Returns the warning for a moment in the gap that ends with the next change.
fn in_a_gap(next: &Change, at: Timestamp) -> Option<String> {
    let What::Gap(Gap { since, reason }) = &next.what else { return None };
    let (from, to) = (shown(*since), shown(next.seen));
    (*since <= at).then(|| format!("changes between {from} and {to} may be missing: {reason}"))
}

impl State {
    fn apply(&mut self, change: Change) {
        match change.what {
            What::Put { after, .. } => {
                let key = (after.kind(), after.key());
                match change.author {
                    Some(author) => self.authors.insert(key.clone(), author),
                    None => self.authors.remove(&key),
                };
                self.objects.insert(key, after);
            }
            What::Removed(before) => {
                let key = (before.kind(), before.key());
                self.authors.remove(&key);
                self.objects.remove(&key);
            }
            What::Gap(_) => {}
        }
    }

    fn into_objects(self) -> Objects {
        let mut objects = Objects::default();
        for ((kind, key), author) in self.authors {
            if let (Kind::Endpoints | Kind::EndpointSlice, Some(time)) = (kind, author.time) {
                let write = LastWrite { manager: author.manager.to_string(), time };
                objects.last_writes.push((ObjectRef::new(kind.into(), &key), write));
            }
        }
        for object in self.objects.into_values() {
            match object {
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
