//! A server, an informer with write-through, and the steps that they take in any order.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
};

use kube_informer::{Event, Informer, ManualSource, OwnWrite, WriteThrough};
use kube_wire::Object as _;
use proptest::prelude::*;

use super::stored;
use crate::{monotonic::Monotonic, thing::Thing};

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Another client writes or deletes.
    Foreign(usize, bool),
    /// This program writes or deletes, if its store has the current state (otherwise the server would answer 409) and
    /// its last write of the object was answered. The response is pending.
    Own(usize, bool),
    /// The oldest pending response arrives.
    Answer,
    /// The oldest pending response is lost.
    Lose,
    /// This many events of the watch arrive.
    Watch(usize),
    Bookmark,
    /// A list is requested; the server reads it this many changes ahead of the watch.
    BeginList(usize),
    EndList,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        2 => (name.clone(), any::<bool>()).prop_map(|(name, delete)| Step::Foreign(name, delete)),
        4 => (name, any::<bool>()).prop_map(|(name, delete)| Step::Own(name, delete)),
        4 => Just(Step::Answer),
        1 => Just(Step::Lose),
        3 => (1..3usize).prop_map(Step::Watch),
        1 => Just(Step::Bookmark),
        1 => (0..3usize).prop_map(Step::BeginList),
        1 => Just(Step::EndList),
    ]
}

/// An own write whose response is pending.
struct PendingWrite {
    write: OwnWrite<Thing>,
    result: WriteResult,
}

enum WriteResult {
    Written(Thing),
    Deleted { seen: Thing, at: u64 },
}

impl WriteResult {
    fn name(&self) -> &str {
        match self {
            WriteResult::Written(thing) | WriteResult::Deleted { seen: thing, .. } => thing.name(),
        }
    }
}

/// State and history of the server.
#[derive(Default)]
pub(super) struct Cluster {
    pub(super) objects: BTreeMap<&'static str, Thing>,
    /// Each change: the object, and whether it was deleted. The version of a change is its position, from 1 on.
    history: Vec<(Thing, bool)>,
    uids: usize,
}

impl Cluster {
    fn version(&self) -> u64 {
        self.history.len() as u64
    }

    fn write(&mut self, name: &'static str) -> Thing {
        let uid = if let Some(thing) = self.objects.get(name) {
            thing.uid()
        } else {
            self.uids += 1;
            format!("uid-{}", self.uids).into()
        };
        let mut thing = Thing::new(name, self.version() + 1, "x");
        thing.metadata.uid = uid;
        self.objects.insert(name, thing.clone());
        self.history.push((thing.clone(), false));
        thing
    }

    fn delete(&mut self, name: &'static str) -> Option<(Thing, u64)> {
        let seen = self.objects.remove(name)?;
        let mut last = seen.clone();
        last.metadata.resource_version = (self.version() + 1).into();
        self.history.push((last, true));
        Some((seen, self.version()))
    }

    fn at(&self, version: usize) -> Vec<Thing> {
        let mut objects = BTreeMap::new();
        for (thing, deleted) in &self.history[..version] {
            if *deleted {
                objects.remove(thing.name());
            } else {
                objects.insert(thing.name(), thing.clone());
            }
        }
        objects.into_values().collect()
    }
}

pub(super) struct World {
    pub(super) cluster: Cluster,
    informer: Informer<Thing>,
    source: ManualSource<Thing>,
    /// Own writes of the handler that does not get their events.
    writes: WriteThrough<Thing>,
    events: Receiver<Event<Thing>>,
    /// State that results from all events.
    replayed: BTreeMap<String, Arc<Thing>>,
    pending: VecDeque<PendingWrite>,
    /// Number of changes that the watch or a list has delivered.
    seen: usize,
    /// Version of the pending list.
    list: Option<usize>,
    bookmarks: usize,
    /// The newest acknowledged state of each name: its version, and whether that is its deletion.
    acknowledged: BTreeMap<String, (u64, bool)>,
}

impl World {
    pub(super) fn new() -> Self {
        let (informer, source) = stored([], "0");
        let (sender, events) = channel();
        let mut monotonic = Monotonic::default();
        informer.add_handler(move |event| {
            monotonic.check(&event);
            drop(sender.send(event));
        });
        let mut monotonic = Monotonic::default();
        let writer = informer.add_handler(move |event| monotonic.check(&event));
        let writes = informer.write_through(&writer);
        let (cluster, replayed, pending, acknowledged) = Default::default();
        let (seen, list, bookmarks) = (0, None, 0);
        World { cluster, informer, source, writes, events, replayed, pending, seen, list, bookmarks, acknowledged }
    }

    fn apply_events(&mut self) {
        self.source.deliver();
        for event in self.events.try_iter() {
            match event {
                Event::Added { object, .. } | Event::Updated { new: object, .. } => {
                    self.replayed.insert(object.name().to_owned(), object);
                }
                Event::Deleted { object, .. } => drop(self.replayed.remove(object.name())),
            }
        }
    }

    fn watch(&mut self, events: usize) {
        for _ in 0..events {
            let Some((thing, deleted)) = self.cluster.history.get(self.seen).cloned() else { return };
            self.seen += 1;
            if deleted { self.source.delete(thing) } else { self.source.apply(thing) }
        }
    }

    fn answer(&mut self) {
        let Some(PendingWrite { write, result }) = self.pending.pop_front() else { return };
        match result {
            WriteResult::Written(thing) => {
                let version = thing.resource_version().number().expect("a number");
                self.acknowledge(thing.name().to_owned(), version, false);
                write.written(thing);
            }
            WriteResult::Deleted { seen, at } => {
                self.acknowledge(seen.name().to_owned(), at, true);
                write.deleted(&seen);
            }
        }
    }

    fn sent(&mut self, result: Option<WriteResult>) {
        let begun = result.map(|result| PendingWrite { write: self.writes.begin("shop", result.name()), result });
        self.pending.extend(begun);
    }

    fn may_write(&self, name: &str) -> bool {
        let waits = self.pending.iter().any(|it| it.result.name() == name);
        !waits && self.stored().get(name).map(|it| &**it) == self.cluster.objects.get(name)
    }

    fn acknowledge(&mut self, name: String, version: u64, deleted: bool) {
        let newest = self.acknowledged.entry(name).or_default();
        *newest = (*newest).max((version, deleted));
    }

    pub(super) fn step(&mut self, step: &Step) {
        match *step {
            Step::Foreign(name, true) => drop(self.cluster.delete(NAMES[name])),
            Step::Foreign(name, false) => drop(self.cluster.write(NAMES[name])),
            Step::Own(name, _) if !self.may_write(NAMES[name]) => {}
            Step::Own(name, true) => {
                let deleted = self.cluster.delete(NAMES[name]);
                self.sent(deleted.map(|(seen, at)| WriteResult::Deleted { seen, at }));
            }
            Step::Own(name, false) => {
                let written = self.cluster.write(NAMES[name]);
                self.sent(Some(WriteResult::Written(written)));
            }
            Step::Answer => self.answer(),
            Step::Lose => drop(self.pending.pop_front()),
            Step::Watch(events) => self.watch(events),
            // A third bookmark without the event of a delete would mean that the server has lost the delete.
            Step::Bookmark if self.bookmarks == 2 => {}
            Step::Bookmark => {
                self.bookmarks += 1;
                assert!(!self.source.bookmark(self.seen.to_string()), "no write was lost");
            }
            Step::BeginList(ahead) => {
                let version = (self.seen + ahead).min(self.cluster.history.len());
                self.list = Some(version);
            }
            Step::EndList => {
                // A list older than the watch is never requested.
                if let Some(version) = self.list.take().filter(|version| *version >= self.seen) {
                    self.source.replace(self.cluster.at(version), version.to_string());
                    self.seen = version;
                }
            }
        }
        self.apply_events();
        self.check();
    }

    pub(super) fn stored(&self) -> BTreeMap<String, Arc<Thing>> {
        self.informer.lister().list().into_iter().map(|it| (it.name().to_owned(), it)).collect()
    }

    /// Delivers what is pending and unseen, and bookmarks until a lost write is noticed.
    pub(super) fn settle(&mut self) {
        while !self.pending.is_empty() {
            self.step(&Step::Answer);
        }
        self.step(&Step::Watch(usize::MAX));
        for _ in 0..4 {
            self.bookmarks = 0;
            self.step(&Step::Bookmark);
        }
    }

    fn check(&self) {
        let stored = self.stored();
        assert_eq!(stored, self.replayed, "state rebuilt from the events");
        for (name, (version, deleted)) in &self.acknowledged {
            match stored.get(name) {
                Some(thing) => {
                    assert!(thing.resource_version() >= (*version).into(), "{name}: older than acknowledged");
                }
                None if *deleted => {}
                None => {
                    let later = &self.cluster.history[usize::try_from(*version).expect("small")..];
                    let is_deleted = later.iter().any(|(thing, deleted)| *deleted && thing.name() == name);
                    assert!(is_deleted, "{name}: an acknowledged object is missing");
                }
            }
        }
    }
}
