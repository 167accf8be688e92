//! Handlers that get only the writes of other clients.

use std::time::Duration;

use kube_informer::{HandlerHandle, HandlerOptions, Informer, ManualSource, OwnWrite, WriteThrough};
use rstest::rstest;
use tokio::time::advance;

use crate::{
    log::{Log, record_with},
    thing::Thing,
};

/// An informer with `a@5` at version 5, a controller that writes, and the events of a handler of foreign writes.
struct Rig {
    informer: Informer<Thing>,
    source: ManualSource<Thing>,
    writes: WriteThrough<Thing>,
    log: Log,
    handler: HandlerHandle,
}

impl Rig {
    fn new() -> Rig {
        let (informer, source) = ManualSource::new();
        let writer = informer.add_handler(|_| {});
        let (log, handler) = record_with(&informer, HandlerOptions::named("foreign").foreign_writes());
        source.replace([thing(5)], "5");
        Rig { writes: informer.write_through(&writer), informer, source, log, handler }
    }

    fn begin(&self) -> OwnWrite<Thing> {
        self.writes.begin("shop", "a")
    }

    fn events(&self) -> Vec<String> {
        self.source.deliver();
        self.log.events()
    }
}

fn thing(version: u64) -> Thing {
    Thing::new("a", version, "x")
}

#[test]
fn neither_initial_nor_unchanged_objects_are_delivered() {
    let rig = Rig::new();
    assert_eq!(rig.events(), [""; 0]);
    assert!(rig.handler.has_synced());
    rig.source.replace([thing(5)], "6");
    assert_eq!(rig.events(), [""; 0], "a relist without differences");
    let (late, _) = record_with(&rig.informer, HandlerOptions::default().foreign_writes());
    rig.source.deliver();
    assert_eq!(late.take(), "", "added after the first list");
}

#[test]
fn changes_by_others_are_delivered() {
    let rig = Rig::new();
    rig.source.apply(thing(6));
    rig.source.delete(thing(7));
    rig.source.apply(thing(8));
    rig.source.replace([thing(9)], "9");
    rig.source.replace([], "10");
    let expected =
        ["Updated shop/a@6", "Deleted shop/a@7", "Added shop/a@8", "Updated shop/a@9", "Deleted(tombstone) shop/a@9"];
    assert_eq!(rig.events(), expected);
}

#[rstest]
#[case::response_first(|rig: &Rig| {
    rig.begin().written(thing(6));
    rig.source.apply(thing(6));
})]
#[case::event_first(|rig: &Rig| {
    let write = rig.begin();
    rig.source.apply(thing(6));
    write.written(thing(6));
})]
#[case::list_first(|rig: &Rig| {
    let write = rig.begin();
    rig.source.replace([thing(6)], "6");
    write.written(thing(6));
})]
#[case::delete(|rig: &Rig| {
    rig.begin().deleted(&thing(5));
    rig.source.delete(thing(6));
})]
#[case::lost_response(|rig: &Rig| {
    drop(rig.begin());
    rig.source.apply(thing(6));
})]
#[case::lost_response_after_the_event(|rig: &Rig| {
    let write = rig.begin();
    rig.source.apply(thing(6));
    drop(write);
})]
#[case::lost_response_found_by_a_relist(|rig: &Rig| {
    drop(rig.begin());
    rig.source.replace([thing(6)], "6");
})]
#[case::conflict_after_a_lost_response(|rig: &Rig| {
    drop(rig.begin());
    rig.begin().conflict(&thing(5));
    rig.source.apply(thing(6));
})]
fn own_writes_are_not_delivered(#[case] write: fn(&Rig)) {
    let rig = Rig::new();
    write(&rig);
    assert_eq!(rig.events(), [""; 0]);
    rig.source.apply(thing(8));
    assert_eq!(rig.events().len(), 1, "a later write by another client");
}

#[rstest]
#[case::conflict(|rig: &Rig| {
    rig.begin().conflict(&thing(5));
    rig.source.apply(thing(6));
})]
#[case::during_an_own_write(|rig: &Rig| {
    let write = rig.begin();
    rig.source.apply(thing(6));
    rig.source.apply(thing(7));
    write.written(thing(7));
})]
#[case::after_a_lost_response_and_a_retry(|rig: &Rig| {
    drop(rig.begin());
    rig.begin().written(thing(6));
    rig.source.apply(thing(7));
})]
fn writes_by_others_are_distinguished_from_own_ones(#[case] write: fn(&Rig)) {
    let rig = Rig::new();
    write(&rig);
    assert_eq!(rig.events().len(), 1);
}

#[rstest]
#[case::rejected(false, 1)]
#[case::may_have_been_applied(true, 0)]
fn the_event_after_a_failed_write_may_be_its_own(#[case] may_have_been_applied: bool, #[case] expected: usize) {
    let rig = Rig::new();
    rig.begin().failed(may_have_been_applied);
    rig.source.apply(thing(6));
    assert_eq!(rig.events().len(), expected);
}

/// The server has not applied a write that the watch does not show for so long.
#[rstest]
#[case::in_time(299, 0)]
#[case::late(300, 1)]
#[tokio::test(start_paused = true)]
async fn lost_response_is_forgotten_after_five_minutes(#[case] seconds: u64, #[case] expected: usize) {
    let rig = Rig::new();
    drop(rig.begin());
    advance(Duration::from_secs(seconds)).await;
    rig.source.apply(thing(6));
    assert_eq!(rig.events().len(), expected);
}

#[test]
fn states_from_a_backup_are_not_writes() {
    let rig = Rig::new();
    rig.source.replace([thing(3)], "4");
    assert_eq!(rig.events(), [""; 0]);
    rig.source.apply(thing(5));
    assert_eq!(rig.events(), ["Updated shop/a@5"]);
}
