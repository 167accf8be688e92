//! A store with write-through: it is never older than an acknowledged write, and ends up in the state of the cluster.

mod world;

use std::sync::{Arc, mpsc::channel};

use kube_informer::{Event, Informer, ManualSource, OwnWrite};
use kube_wire::Object as _;
use proptest::prelude::*;
use rstest::rstest;
use world::{World, step};

use crate::{
    log::{Log, record},
    thing::Thing,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn store_is_never_older_than_an_acknowledged_write(steps in prop::collection::vec(step(), 1..40)) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        world.settle();
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
    let (informer, source) = stored([thing("u", 5)], "5");
    let ((of_writer, writer), (of_other, _)) = (record(&informer), record(&informer));
    source.deliver();
    of_writer.take();
    of_other.take();

    let writes = informer.write_through(&writer);
    writes.begin("shop", "a").written(thing("u", 7));
    source.apply(thing("u", 7));
    writes.begin("shop", "a").deleted(&thing("u", 7));
    source.apply(thing("u", 6));
    source.delete(thing("u", 8));
    source.deliver();
    assert_eq!((&*of_writer.take(), &*of_other.take()), ("", "Updated shop/a@7, Deleted shop/a@7"));
    assert!(informer.lister().is_empty());
}

/// Returns an informer whose only handler has a write in progress of an object stored at version 5, and its events.
fn writing() -> (Informer<Thing>, ManualSource<Thing>, Log, OwnWrite<Thing>) {
    let (informer, source) = stored([thing("u", 5)], "5");
    let (log, handler) = record(&informer);
    source.deliver();
    log.take();
    let write = informer.write_through(&handler).begin("shop", "a");
    (informer, source, log, write)
}

/// Events that arrive before the response to the write are deferred until it arrives.
#[rstest]
#[case::written(|write: OwnWrite<Thing>| write.written(thing("u", 7)), &["Updated shop/a@6", "Updated shop/a@8"])]
#[case::lost(drop, &["Updated shop/a@6", "Updated shop/a@7", "Updated shop/a@8"])]
fn writer_gets_foreign_events_that_arrive_during_its_write(
    #[case] answer: fn(OwnWrite<Thing>),
    #[case] expected: &[&str],
) {
    let (informer, source, log, write) = writing();
    for version in [6, 7, 8] {
        source.apply(thing("u", version));
    }
    source.deliver();
    assert_eq!(log.take(), "", "events wait for the response");
    answer(write);
    source.deliver();
    assert_eq!(log.events(), expected);
    assert_eq!(informer.lister().list()[0].text(), "a@8");
}

// Seed 23283 of the simulation: the changes of a list were delivered ahead of deferred events.
#[rstest]
#[case::written(|write: OwnWrite<Thing>| write.written(thing("u", 7)), &["Updated shop/a@6"])]
#[case::lost(drop, &["Updated shop/a@6", "Updated shop/a@7"])]
fn list_does_not_overtake_deferred_events(#[case] answer: fn(OwnWrite<Thing>), #[case] expected: &[&str]) {
    let (_informer, source, log, write) = writing();
    source.apply(thing("u", 6));
    source.replace([thing("u", 7)], "7");
    source.deliver();
    assert_eq!(log.take(), "", "events wait for the response");
    answer(write);
    source.deliver();
    assert_eq!(log.events(), expected);
}
