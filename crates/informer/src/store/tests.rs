//! Lists, withheld objects, and own writes.

use rstest::rstest;

use super::*;
use crate::item::Item;

fn item(name: &str, version: u64) -> Arc<Item> {
    Arc::new(Item::new(name, name, version))
}

fn names(lister: &Lister<Item>) -> Vec<String> {
    lister.list().iter().map(|it| it.name().to_owned()).collect()
}

fn reference(name: &str) -> Reference {
    Reference::to(&*item(name, 0))
}

#[test]
fn objects_that_a_list_lacks_are_kept_and_the_others_are_stored() {
    let mut store = StoreWriter::new((), false);
    let lister = store.lister();
    assert!(store.replace(vec![item("a", 3), item("b", 4)], 70.into(), Missing::AtMost(0)).is_ok());
    let list = || vec![item("b", 75), item("c", 76)];
    assert_eq!(store.replace(list(), 80.into(), Missing::AtMost(0)).err(), Some(vec![reference("a")]));
    assert_eq!((names(&lister).concat().as_str(), lister.last_resource_version() >= 80.into()), ("ab", false));
    let changes = store.replace(list(), 80.into(), Missing::Keep).expect("stored");
    assert_eq!((names(&lister).concat().as_str(), lister.last_resource_version() >= 80.into()), ("abc", true));
    assert_eq!(changes.iter().count(), 2, "the update of b and c");
    assert!(store.replace(list(), 90.into(), Missing::AtMost(1)).is_ok());
    assert_eq!(names(&lister), ["b", "c"]);
}

#[test]
fn a_late_response_does_not_bring_back_a_deleted_object() {
    let mut store = StoreWriter::new((), false);
    let lister = store.lister();
    assert!(store.replace(vec![item("a", 3)], 3.into(), Missing::AtMost(0)).is_ok());
    assert!(store.deleted(&item("a", 3)).is_some());
    assert!(store.written(item("a", 5)).is_none(), "written before the deletion, answered after it");
    assert!(store.delete(item("a", 6)).is_none(), "removed already");
    assert_eq!(names(&lister), [""; 0]);
    assert!(store.written(Arc::new(Item::new("a", "later", 7))).is_some());
    assert_eq!(names(&lister), ["a"]);
}

#[test]
fn an_object_that_an_own_write_deselected_can_be_selected_again() {
    let mut store = StoreWriter::new((), true);
    let lister = store.lister();
    let key = || item("a", 0).key();
    let select = |store: &mut StoreWriter<Item, ()>| {
        assert!(store.replace(vec![item("a", 3)], 3.into(), Missing::AtMost(0)).is_ok());
        assert!(store.gone(key(), "a".into(), Some(6.into())).is_some(), "written at 5, not in a list at 6");
        assert!(store.upsert(item("a", 4)).is_none() && store.written(item("a", 5)).is_none(), "older states");
    };
    select(&mut store);
    assert!(store.written(item("a", 7)).is_some(), "moved back before the watch shows that it was moved out");
    assert!(store.delete(item("a", 5)).is_none(), "moved out");
    assert!(store.upsert(item("a", 7)).is_none() && store.delete(item("a", 8)).is_some());
    let mut store = StoreWriter::new((), true);
    select(&mut store);
    assert!(store.replace(vec![item("a", 4)], 5.into(), Missing::Remove).is_ok());
    assert_eq!(lister.len(), 0, "of another store");
    assert_eq!(store.lister().len(), 0, "a list from before it was moved out");
    assert!(store.replace(vec![item("a", 9)], 9.into(), Missing::Remove).is_ok());
    assert_eq!(store.lister().len(), 1, "selected again");
}

// Seed 4237 of the laws of operators: an object that another client had moved out of the selection and back was deleted in between.
#[rstest]
#[case::stored(vec![item("a", 3)], true)]
#[case::moved_out_before(vec![], false)]
fn no_state_from_before_an_own_delete_is_stored(#[case] list: Vec<Arc<Item>>, #[case] is_stored: bool) {
    let mut store = StoreWriter::new((), true);
    assert!(store.replace(list, 3.into(), Missing::AtMost(0)).is_ok());
    assert_eq!(store.gone(item("a", 0).key(), "a".into(), None).is_some(), is_stored);
    assert!(store.delete(item("a", 4)).is_none(), "moved out");
    assert!(store.upsert(item("a", 5)).is_none(), "moved back");
    assert!(store.written(item("a", 5)).is_none(), "a late response");
    assert!(store.delete(item("a", 6)).is_none());
    assert_eq!([7, 8, 9].map(|version| store.bookmark(&version.into())), [false; 3]);
    let later = Arc::new(Item::new("a", "later", 10));
    assert!(store.upsert(later).is_some(), "another object");
}

#[test]
fn a_later_state_than_the_own_write_that_deselected_an_object_is_kept() {
    let mut store = StoreWriter::new((), true);
    let key = || item("a", 0).key();
    assert!(store.replace(vec![item("a", 7)], 7.into(), Missing::AtMost(0)).is_ok());
    assert!(store.gone(key(), "a".into(), Some(6.into())).is_none(), "selected again");
    assert!(store.gone(key(), "other".into(), None).is_none(), "an earlier object of the name");
    assert_eq!(names(&store.lister()), ["a"]);
    assert!(store.delete(item("a", 8)).is_some());
    assert!(store.gone(key(), "a".into(), Some(9.into())).is_none(), "moved out before");
    assert!(store.upsert(item("a", 9)).is_none() && store.upsert(item("a", 10)).is_some());
}

#[test]
fn an_own_delete_that_the_watch_need_not_show_is_not_lost() {
    let lost = |dropped: bool| {
        let mut store = StoreWriter::new((), false);
        assert!(store.replace(vec![], 3.into(), Missing::AtMost(0)).is_ok());
        assert!(store.gone(item("a", 0).key(), "a".into(), None).is_none());
        if dropped {
            assert!(store.upsert(item("a", 4)).is_none());
        }
        [5, 6, 7].map(|version| store.bookmark(&version.into()))
    };
    assert_eq!(lost(false), [false; 3], "the watch may have shown it before the response");
    assert_eq!(lost(true), [false, false, true], "the watch has shown the object, but not its deletion");
}

#[test]
fn own_writes_before_the_first_list_are_stored_with_it() {
    let mut store = StoreWriter::new((), false);
    let lister = store.lister();
    let key = |name| item(name, 0).key();
    assert!(store.written(item("a", 8)).is_none());
    assert!(store.written(item("a", 7)).is_none(), "an older write that is answered later");
    assert!(store.written(item("b", 4)).is_none());
    assert!(store.written(item("c", 9)).is_none());
    assert!(store.gone(key("c"), "c".into(), None).is_none());
    assert!(store.gone(key("d"), "d".into(), None).is_none());
    assert!(store.written(item("e", 9)).is_none());
    assert!(store.gone(key("e"), "e".into(), Some(8.into())).is_none(), "not selected before it was written");
    assert!(store.gone(key("e"), "earlier".into(), None).is_none(), "another object");
    assert!(store.written(item("f", 9)).is_none());
    assert!(store.gone(key("f"), Uid::default(), None).is_none());
    assert!(store.written(item("g", 4)).is_none());
    assert!(store.gone(key("g"), "later".into(), None).is_none());
    let other = |name, uid, version| Arc::new(Item::new(name, uid, version));
    let list = vec![item("a", 3), item("b", 5), item("d", 2), other("f", "earlier", 5), other("g", "later", 5)];
    assert!(store.replace(list, 6.into(), Missing::AtMost(0)).is_ok());
    let stored: Vec<_> = lister.list().iter().map(|it| (it.name().to_owned(), it.resource_version())).collect();
    assert_eq!(stored, [("a".to_owned(), 8.into()), ("b".to_owned(), 5.into()), ("e".to_owned(), 9.into())]);
    assert!(store.upsert(item("a", 7)).is_none() && store.upsert(item("d", 2)).is_none(), "older events");
    assert!(store.delete(item("d", 10)).is_none(), "removed already");
    assert!(store.upsert(item("a", 11)).is_some());
}

#[test]
fn withheld_objects_are_missing_until_a_list_or_event_shows_them() {
    let mut store = StoreWriter::new((), false);
    let lister = store.lister();
    let withheld = |name| lister.is_withheld("shop", name);
    assert!(store.replace(vec![item("a", 3)], 70.into(), Missing::AtMost(0)).is_ok());
    assert!(!store.withhold(&[reference("a")]), "stored by now");
    assert!(store.withhold(&["a", "b", "c", "d", "e"].map(reference)));
    assert_eq!(["a", "b", "c", "d", "e"].map(withheld), [false, true, true, true, true]);
    store.upsert(item("b", 75));
    store.delete(item("c", 76));
    assert_eq!(["b", "c", "d", "e"].map(withheld), [false, false, true, true]);
    let list = || vec![item("a", 3), item("b", 75), item("d", 80)];
    assert_eq!(store.replace(list(), 90.into(), Missing::AtMost(0)).err(), Some(vec![reference("e")]));
    assert!(store.replace(list(), 90.into(), Missing::Keep).is_ok());
    assert_eq!(["d", "e"].map(withheld), [false, true]);
    assert!(store.replace(list(), 91.into(), Missing::Remove).is_ok());
    assert!(!withheld("e"));
}

#[rstest]
#[case::equal("1", "1", "1")]
#[case::one_is_unknown("1", "", "")]
#[case::other_is_unknown("", "1", "")]
#[case::of_two_objects("1", "2", "")]
fn references_with_different_uids_are_to_any_object(#[case] one: &str, #[case] other: &str, #[case] expected: &str) {
    let reference = |uid: &str| Reference { key: item("a", 0).key(), uid: uid.into() };
    let mut store = StoreWriter::<Item, ()>::new((), false);
    assert!(store.replace(vec![], 70.into(), Missing::AtMost(0)).is_ok());
    for uid in [one, other] {
        assert!(store.withhold(&[reference(uid)]));
    }
    assert_eq!(store.replace(vec![], 71.into(), Missing::AtMost(0)).err(), Some(vec![reference(expected)]));
}
