//! A store with write-through: it is never older than an acknowledged write, and ends up in the state of the cluster.

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
use rstest::rstest;

use crate::{monotonic::Monotonic, thing::Thing};

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Step {
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

fn step() -> impl Strategy<Value = Step> {
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
struct Cluster {
    objects: BTreeMap<&'static str, Thing>,
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

struct World {
    cluster: Cluster,
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
    fn new() -> Self {
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

    fn step(&mut self, step: &Step) {
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

    fn stored(&self) -> BTreeMap<String, Arc<Thing>> {
        self.informer.lister().list().into_iter().map(|it| (it.name().to_owned(), it)).collect()
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn store_is_never_older_than_an_acknowledged_write(steps in prop::collection::vec(step(), 1..40)) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        while !world.pending.is_empty() {
            world.step(&Step::Answer);
        }
        world.step(&Step::Watch(usize::MAX));
        for _ in 0..4 {
            world.bookmarks = 0;
            world.step(&Step::Bookmark);
        }
        let expected = world.cluster.objects.iter().map(|(name, thing)| ((*name).to_owned(), Arc::new(thing.clone())));
        assert_eq!(world.stored(), expected.collect(), "the store has the state of the cluster");
    }
}

fn thing(uid: &str, version: u64) -> Thing {
    let mut thing = Thing::new("a", version, "x");
    thing.metadata.uid = uid.into();
    thing
}

fn stored(objects: impl IntoIterator<Item = Thing>, version: &str) -> (Informer<Thing>, ManualSource<Thing>) {
    let (informer, source) = ManualSource::new();
    source.replace(objects, version);
    (informer, source)
}

/// Begins a write whose events all handlers get.
fn begin(informer: &Informer<Thing>, object: &Thing) -> OwnWrite<Thing> {
    informer.write_through(&informer.store_synced()).begin("shop", object.name())
}

fn versions(informer: &Informer<Thing>) -> Vec<String> {
    informer.lister().list().iter().map(|it| it.resource_version().to_string()).collect()
}

#[test]
fn lost_write_is_detected_at_a_bookmark() {
    let (informer, source) = stored([thing("u", 5)], "5");
    begin(&informer, &thing("u", 5)).written(thing("u", 9));
    assert!(!source.bookmark("8"), "the watch has not reached the write");
    assert!(source.bookmark("9"), "the watch has passed the write without its event");
    source.replace([thing("u", 5)], "12");
    assert_eq!(versions(&informer), ["5"]);
    assert!(!source.bookmark("13"));
}

#[test]
fn lost_delete_is_detected_at_the_third_bookmark() {
    let (informer, source) = stored([thing("u", 5)], "5");
    begin(&informer, &thing("u", 5)).deleted(&thing("u", 5));
    assert_eq!(["6", "7", "8"].map(|version| source.bookmark(version)), [false, false, true]);
    source.replace([thing("u", 5)], "12");
    assert_eq!(versions(&informer), ["5"]);
}

// After a restore of etcd, versions go back and are assigned again.
#[rstest]
#[case::other_content("restored", 1)]
#[case::same_content("x", 0)]
fn list_older_than_the_store_is_stored_unchanged(#[case] group: &str, #[case] changes: usize) {
    let (informer, source) = stored([thing("u", 5)], "20");
    begin(&informer, &thing("u", 5)).written(thing("v", 25));
    source.replace([thing("u", 5)], "20");
    assert_eq!(versions(&informer), ["25"], "the list is older than an own write");
    source.replace([thing("u", 5)], "10");
    assert_eq!(versions(&informer), ["5"]);

    let (sender, events) = channel();
    informer.add_handler(move |event| drop(sender.send(event)));
    let mut reused = thing("u", 5);
    reused.data.insert("group".to_owned(), group.to_owned());
    source.replace([reused], "11");
    source.deliver();
    let found = events.try_iter().filter(Event::is_change).count();
    assert_eq!(found, changes, "the same version with other content is a change");
}

#[test]
fn the_writer_gets_no_event_of_its_writes_and_other_handlers_do() {
    let (informer, source) = ManualSource::<Thing>::new();
    let (sent, received) = channel();
    let handler = |name: &'static str| {
        let sent = sent.clone();
        informer.add_handler(move |event| drop(sent.send(format!("{name} {event:?}"))))
    };
    let (writer, _other) = (handler("writer"), handler("other"));
    source.replace([thing("u", 5)], "5");
    source.deliver();
    received.try_iter().for_each(drop);

    let writes = informer.write_through(&writer);
    writes.begin("shop", "a").written(thing("u", 7));
    source.apply(thing("u", 7));
    writes.begin("shop", "a").deleted(&thing("u", 7));
    source.apply(thing("u", 6));
    source.delete(thing("u", 8));
    source.deliver();
    assert_eq!(received.try_iter().collect::<Vec<_>>(), ["other Updated shop/a@7", "other Deleted shop/a@7"]);
    assert!(informer.lister().is_empty());
}

/// Returns an informer whose only handler has a write in progress of an object stored at version 5, and its events.
fn writing() -> (Informer<Thing>, ManualSource<Thing>, Receiver<String>, OwnWrite<Thing>) {
    let (informer, source) = stored([thing("u", 5)], "5");
    let (sent, received) = channel();
    let handler = informer.add_handler(move |event| drop(sent.send(format!("{event:?}"))));
    source.deliver();
    received.try_iter().for_each(drop);
    let write = informer.write_through(&handler).begin("shop", "a");
    (informer, source, received, write)
}

/// Events that arrive before the response to the write are deferred until it arrives.
#[rstest]
#[case::written(|write: OwnWrite<Thing>| write.written(thing("u", 7)), &["Updated shop/a@6", "Updated shop/a@8"])]
#[case::lost(drop, &["Updated shop/a@6", "Updated shop/a@7", "Updated shop/a@8"])]
fn writer_gets_foreign_events_that_arrive_during_its_write(
    #[case] answer: fn(OwnWrite<Thing>),
    #[case] expected: &[&str],
) {
    let (informer, source, received, write) = writing();
    for version in [6, 7, 8] {
        source.apply(thing("u", version));
    }
    source.deliver();
    assert_eq!(received.try_iter().count(), 0, "events wait for the response");
    answer(write);
    source.deliver();
    assert_eq!(received.try_iter().collect::<Vec<_>>(), expected);
    assert_eq!(informer.lister().list()[0].text(), "a@8");
}

// Seed 23283 of the simulation: the changes of a list were delivered ahead of deferred events.
#[rstest]
#[case::written(|write: OwnWrite<Thing>| write.written(thing("u", 7)), &["Updated shop/a@6"])]
#[case::lost(drop, &["Updated shop/a@6", "Updated shop/a@7"])]
fn list_does_not_overtake_deferred_events(#[case] answer: fn(OwnWrite<Thing>), #[case] expected: &[&str]) {
    let (_informer, source, received, write) = writing();
    source.apply(thing("u", 6));
    source.replace([thing("u", 7)], "7");
    source.deliver();
    assert_eq!(received.try_iter().count(), 0, "events wait for the response");
    answer(write);
    source.deliver();
    assert_eq!(received.try_iter().collect::<Vec<_>>(), expected);
}
