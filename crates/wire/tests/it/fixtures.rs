//! Recorded responses of a real API server decode to the same objects from both encodings.

use kube_endpoints_testing::fixture;
use kube_wire::{Encoding, ListMeta, ListReader, Object as _, Status, WatchEvent, WatchReader};
use rstest::rstest;

use crate::meta::{Endpoints, Kind, Meta, Nodes, Pods, Services, Slices};

/// Extension of the fixture files of an encoding.
pub(crate) fn suffix(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Json => "json",
        Encoding::Protobuf => "pb",
    }
}

/// Decodes a list that arrives in `chunks`; fails with the text of the first error, also of an undecodable item.
pub(crate) fn list<'a, K: Kind>(
    encoding: Encoding,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(ListMeta, Vec<Meta<K>>), String> {
    let mut reader = ListReader::new(encoding);
    let mut items = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        while let Some(item) = reader.next_item().map_err(|error| error.to_string())? {
            items.push(item.map_err(|it| it.error.to_string())?);
        }
    }
    reader.finish().map(|meta| (meta, items)).map_err(|error| error.to_string())
}

/// Decodes a watch that arrives in `chunks`; returns its events, and the text of the error that ended it, if any.
pub(crate) fn watch<'a, K: Kind>(
    encoding: Encoding,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<WatchEvent<Meta<K>>>, Option<String>) {
    let mut reader = WatchReader::new(encoding, "1".into());
    let mut events = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        loop {
            match reader.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Some(error.to_string())),
            }
        }
    }
    let error = reader.finish().err().map(|error| error.to_string());
    (events, error)
}

fn list_of<K: Kind>(encoding: Encoding) -> (ListMeta, Vec<Meta<K>>) {
    let body = fixture(&format!("{}.list.{}", K::FILE, suffix(encoding)));
    list(encoding, body.chunks(1000)).expect("the list decodes")
}

#[rstest]
#[case::pods(list_of::<Pods>, 47)]
#[case::services(list_of::<Services>, 4)]
#[case::nodes(list_of::<Nodes>, 305)]
#[case::slices(list_of::<Slices>, 6)]
#[case::endpoints(list_of::<Endpoints>, 4)]
fn lists_are_equal_in_both_encodings<K: Kind>(
    #[case] list_of: fn(Encoding) -> (ListMeta, Vec<Meta<K>>),
    #[case] count: usize,
) {
    let (meta, items) = list_of(Encoding::Protobuf);
    assert_eq!(items.len(), count);
    assert_eq!(meta, ListMeta { resource_version: 68318.into(), continue_token: None, remaining: None });
    assert!(items.iter().all(|item| !item.uid().is_empty() && item.resource_version().number().is_some()));
    assert_eq!(list_of(Encoding::Json), (meta, items));
}

/// Returns all events but bookmarks, whose number and time the server chooses.
fn changes_of<K: Kind>(encoding: Encoding) -> Vec<WatchEvent<Meta<K>>> {
    let body = fixture(&format!("{}.watch.{}", K::FILE, suffix(encoding)));
    let (mut events, error) = watch(encoding, body.chunks(1000));
    assert_eq!(error, None);
    events.retain(|event| !matches!(event, WatchEvent::Bookmark { .. }));
    events
}

#[rstest]
#[case::pods(changes_of::<Pods>)]
#[case::services(changes_of::<Services>)]
#[case::nodes(changes_of::<Nodes>)]
#[case::slices(changes_of::<Slices>)]
#[case::endpoints(changes_of::<Endpoints>)]
fn watches_are_equal_in_both_encodings<K: Kind>(#[case] changes_of: fn(Encoding) -> Vec<WatchEvent<Meta<K>>>) {
    let changes = changes_of(Encoding::Protobuf);
    assert!(!changes.is_empty());
    assert_eq!(changes_of(Encoding::Json), changes);
}

#[rstest]
#[case::json(Encoding::Json)]
#[case::protobuf(Encoding::Protobuf)]
fn bookmark_contains_resource_version(#[case] encoding: Encoding) {
    let body = fixture(&format!("endpointslice.watch.{}", suffix(encoding)));
    let (events, _) = watch::<Slices>(encoding, [&body[..]]);
    let bookmark = WatchEvent::Bookmark { resource_version: 68318.into(), initial_events_end: false };
    assert!(events.contains(&bookmark));
}

#[test]
fn expired_watch_yields_error_event() {
    let (events, error) = watch::<Pods>(Encoding::Json, [&fixture("expired.watch.json")[..]]);
    let [WatchEvent::Error(status)] = &events[..] else { panic!("expected one ERROR event, got {events:?}") };
    assert!(status.is_expired() && error.is_none(), "{status}");
}

#[rstest]
#[case("not-found", 404)]
#[case("already-exists", 409)]
#[case("conflict", 409)]
#[case("invalid", 422)]
#[case("bad-request", 400)]
fn error_statuses(#[case] name: &str, #[case] code: u16) {
    let status: Status = serde_json::from_slice(&fixture(&format!("{name}.status.json"))).unwrap();
    assert_eq!(status.code, code);
    assert!(!status.message.is_empty() && !status.reason.is_empty(), "{status:?}");
}

#[test]
fn error_status_is_not_a_list() {
    let error = list::<Pods>(Encoding::Json, [&fixture("not-found.status.json")[..]]).unwrap_err();
    assert_eq!(error, "expected PodList, the server sent Status");
}
