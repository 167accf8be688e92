//! Reads from stores and indexes.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use kube_endpoints_testing::LIMIT;
use kube_informer::{Lister, ManualSource, NamedIndexes};
use rstest::rstest;

use crate::{log::thing, thing::Thing};

type Things = NamedIndexes<Thing>;

/// Returns a thing in any number of groups, separated by spaces.
fn member(name: &str, version: u64, groups: &str) -> Thing {
    Thing::new(name, version, groups)
}

fn groups(thing: &Thing) -> Vec<String> {
    thing.group().iter().flat_map(|groups| groups.split(' ').filter(|it| !it.is_empty())).map(str::to_owned).collect()
}

fn indexed() -> (Lister<Thing, Things>, ManualSource<Thing, Things>) {
    let index = Things::new().with("group", groups).with("initial", |thing: &Thing| vec![thing.text()[..1].to_owned()]);
    let (informer, source) = ManualSource::with_index(index);
    (informer.lister(), source)
}

fn names(things: impl IntoIterator<Item = impl std::borrow::Borrow<std::sync::Arc<Thing>>>) -> String {
    things.into_iter().map(|thing| thing.borrow().text()).collect::<Vec<_>>().join(" ")
}

#[test]
fn readers_do_not_wait_for_a_list() {
    type Stop = (Sender<()>, Receiver<()>);
    let stop = Arc::new(Mutex::new(None::<Stop>));
    let of_the_index = stop.clone();
    let index = Things::new().with("group", move |thing| {
        // The index function runs while the list is being stored.
        if let Some((entered, go)) = of_the_index.lock().unwrap().take() {
            entered.send(()).unwrap();
            // A reader that waits for the list would see its objects.
            let _ = go.recv_timeout(LIMIT);
        }
        groups(thing)
    });
    let (informer, source) = ManualSource::with_index(index);
    let lister = informer.lister();
    let things = |version| (0..1_000).map(move |at| member(&format!("thing-{at}"), version, "all"));
    source.replace(things(1), "1");

    let ((entered, has_entered), (goes, go)) = (channel(), channel());
    *stop.lock().unwrap() = Some((entered, go));
    thread::scope(|scope| {
        scope.spawn(|| source.replace(things(2), "2"));
        has_entered.recv_timeout(LIMIT).unwrap();
        let version = |name: &str| lister.get("shop", name).map(|it| it.text());
        assert_eq!((version("thing-7").as_deref(), lister.by_index("group", "all").len()), (Some("thing-7@1"), 1_000));
        goes.send(()).unwrap();
    });
    assert_eq!(lister.get("shop", "thing-7").map(|it| it.text()).as_deref(), Some("thing-7@2"));
}

// client-go: TestThreadSafeStoreRV, TestStoreResourceVersion
#[test]
fn store_version_follows_events_lists_and_bookmarks() {
    let (informer, source) = ManualSource::<Thing>::new();
    let version = || informer.lister().last_resource_version().to_string();
    assert_eq!(version(), "", "initial state");
    source.apply(thing("a", 1));
    assert_eq!(version(), "1");
    source.apply(thing("a", 2));
    assert_eq!(version(), "2");
    source.delete(thing("a", 3));
    assert_eq!(version(), "3");
    source.replace([thing("a", 4)], "9");
    assert_eq!(version(), "9", "a list is newer than its objects");
    source.bookmark("12");
    assert_eq!(version(), "12");
}

// client-go: TestIndex, TestMultiIndexKeys (index_test.go), TestIndexer (shared_informer_test.go), IN-49
#[test]
fn an_index_follows_every_change() {
    let (lister, source) = indexed();
    source
        .replace([member("one", 1, "ernie bert"), member("two", 2, "bert oscar"), member("tre", 3, "ernie elmo")], "3");
    assert_eq!(names(lister.by_index("group", "ernie")), "one@1 tre@3");
    assert_eq!(names(lister.by_index("group", "bert")), "one@1 two@2");
    assert_eq!(names(lister.by_index("initial", "t")), "tre@3 two@2");
    assert_eq!(lister.read(|_, index| index.names("group").collect::<Vec<_>>().join(" ")), "bert elmo ernie oscar");

    source.delete(member("tre", 4, "ernie elmo"));
    source.apply(member("two", 5, "ernie"));
    assert_eq!(names(lister.by_index("group", "ernie")), "one@1 two@5");
    assert_eq!(names(lister.by_index("group", "bert")), "one@1");
    assert_eq!(names(lister.by_index("group", "elmo")), "");
    assert_eq!(names(lister.by_index("no such index", "ernie")), "");
    source.replace([member("two", 6, "bert")], "6");
    assert_eq!(names(lister.by_index("group", "bert")), "two@6");
}

// client-go: TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex,
// TestThreadSafeStoreAddKeepsNonEmptySetPostDeleteFromIndex, TestGetIndexFuncValues,
// TestThreadSafeStoreIndexingFunctionsWithMultipleValues
#[rstest]
#[case::deleted("ernie", None, "")]
#[case::deleted_but_not_the_last("bert", None, "bert")]
#[case::renamed("ernie", Some("elmo"), "elmo")]
#[case::one_name_more("ernie", Some("ernie elmo"), "elmo ernie")]
#[case::no_name("ernie", Some(""), "")]
#[case::the_same_name_twice("ernie ernie", Some("bert bert"), "bert")]
fn empty_index_buckets_are_removed(#[case] before: &str, #[case] after: Option<&str>, #[case] expect: &str) {
    let (lister, source) = indexed();
    source.apply(member("a", 1, before));
    if before == "bert" {
        source.apply(member("b", 2, "bert"));
    }
    match after {
        Some(after) => source.apply(member("a", 3, after)),
        None => source.delete(member("a", 3, before)),
    }
    assert_eq!(lister.read(|_, index| index.names("group").collect::<Vec<_>>().join(" ")), expect);
}

// A result does not change after it was returned.
#[test]
fn results_do_not_change_after_they_are_returned() {
    let (lister, source) = indexed();
    source.replace([member("a", 1, "x"), member("b", 2, "x")], "2");
    let (bucket, all) = (lister.by_index("group", "x"), lister.list());
    source.replace([member("c", 3, "x")], "3");
    assert_eq!((names(bucket), names(all)), ("a@1 b@2".to_owned(), "a@1 b@2".to_owned()));
    assert_eq!(names(lister.by_index("group", "x")), "c@3");
}
