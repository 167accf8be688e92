use rstest::rstest;

use super::*;
use crate::{
    Object as _,
    testing::{self, Thing, bytes, text},
};

/// Reads a list that arrives in pieces of `step` bytes.
fn read(encoding: Encoding, body: &[u8], step: usize) -> Result<List<Thing>, String> {
    let mut reader = ListReader::with_limit(encoding, 100);
    let mut items = Vec::new();
    for chunk in body.chunks(step) {
        reader.push(chunk);
        while let Some(item) = reader.next_item().map_err(|error| error.to_string())? {
            items.push(item);
        }
    }
    let meta = reader.finish().map_err(|error| error.to_string())?;
    Ok(List { meta, items })
}

/// The same, however it is cut.
#[track_caller]
fn check(encoding: Encoding, body: &[u8]) -> Result<List<Thing>, String> {
    let whole = read(encoding, body, body.len().max(1));
    for step in 1..body.len() {
        assert_eq!(read(encoding, body, step), whole, "in steps of {step}");
    }
    whole
}

#[rstest]
#[case::as_servers_write_it(
    r#"{"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"c","remainingItemCount":4},
        "items":[{"metadata":{"name":"a","namespace":"x"},"size":3},{"metadata":{"name":"b"}}]}
    "#
)]
#[case::metadata_last(
    r#" { "items" : [ {"metadata":{"name":"a","namespace":"x"},"size":3} , {"metadata":{"name":"b"},"note":"]}\\"}] ,
        "other":[{"items":[{}]},"]"], "n" : -1.5e3,"t":true, "metadata":{"remainingItemCount":4,"continue":"c","resourceVersion":"9"}
        ,"kind":"ThingList"}"#
)]
fn reads_a_page(#[case] body: &str) {
    let List { meta, items } = check(Encoding::Json, body.as_bytes()).unwrap();
    let (version, continue_token) = ("9".into(), Some("c".to_owned()));
    assert_eq!(meta, ListMeta { resource_version: version, continue_token, remaining: Some(4) });
    let items: Vec<_> = items.iter().map(|item| format!("{} {}", item.key(), item.size)).collect();
    assert_eq!(items, ["x/a 3", "b 0"]);
}

#[rstest]
#[case::null_items(r#"{"kind":"ThingList","metadata":{"resourceVersion":"9"},"items":null}"#)]
#[case::no_items(r#"{"kind":"ThingList","metadata":{"resourceVersion":"9"}}"#)]
#[case::last_page(r#"{"metadata":{"resourceVersion":"9","continue":""},"items":[]}"#)]
#[case::no_metadata(r#"{"items":[]}"#)]
fn reads_nothing(#[case] body: &str) {
    let list = check(Encoding::Json, body.as_bytes()).unwrap();
    assert!(list.items.is_empty() && list.meta.continue_token.is_none(), "{list:?}");
}

#[rstest]
#[case::status(r#"{"kind":"Status","code":500}"#, "expected ThingList, the server sent Status")]
#[case::nothing("{}", "cannot decode ThingList: the document: expected metadata or items before the end at byte 2")]
#[case::late_kind(r#"{"items":[],"kind":"PodList"}"#, "expected ThingList, the server sent PodList")]
#[case::item(
    r#"{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"size":"big"}]}"#,
    "cannot decode ThingList: items[1].size (line 1"
)]
#[case::metadata(r#"{"metadata":{"resourceVersion":{}}}"#, "cannot decode ThingList: metadata.resourceVersion (line 1")]
#[case::nameless(r#"{"items":[{"metadata":{}}]}"#, "cannot decode Thing: an object without metadata.name")]
#[case::scalar(r#"{"items":[7]}"#, "cannot decode ThingList: the document: expected an item or `]` at byte 10")]
#[case::no_array(r#"{"items":{}}"#, "cannot decode ThingList: the document: expected one array of items at byte 9")]
#[case::twice(
    r#"{"items":[],"items":[]}"#,
    "cannot decode ThingList: the document: expected one array of items at byte 20"
)]
#[case::comma(
    r#"{"items":[{"metadata":{"name":"a"}},]}"#,
    "cannot decode ThingList: the document: expected an item at"
)]
#[case::trailing(r#"{"items":[]} {}"#, "cannot decode ThingList: the document: expected nothing more at byte 13")]
#[case::hidden(r#"{"\u0069tems":[]}"#, "cannot decode ThingList: the document: expected a plain key at byte 13")]
#[case::cut(r#"{"items":[{"metadata""#, "ThingList ended within items[0], 10 bytes from its beginning")]
#[case::cut_between(
    r#"{"items":[{"metadata":{"name":"a"}},"#,
    "ThingList ended within items[1], 36 bytes from its beginning"
)]
#[case::empty("", "ThingList ended within items[0], 0 bytes")]
#[case::text("upstream connect error", "cannot decode ThingList: the document: expected an object at byte 0")]
fn refuses(#[case] body: &str, #[case] expect: &str) {
    let error = check(Encoding::Json, body.as_bytes()).unwrap_err();
    assert!(error.starts_with(expect), "{error}");
}

#[test]
fn refuses_a_long_item_but_not_what_is_skipped() {
    let long = "x".repeat(100);
    let body =
        format!(r#"{{"a":"{long}","items":[{{"metadata":{{"name":"a"}}}},{{"metadata":{{"name":"{long}"}}}}]}}"#);
    assert_eq!(check(Encoding::Json, body.as_bytes()).unwrap_err(), "items[1] of ThingList is longer than 100 bytes");
    let things = [testing::thing("a", "7", 1), testing::thing(&long, "7", 1)];
    let body = testing::list("ThingList", "9", &things);
    assert_eq!(check(Encoding::Protobuf, &body).unwrap_err(), "items[1] of ThingList is longer than 100 bytes");
}

#[test]
fn reads_protobuf() {
    let things = [testing::thing("a", "7", 3), testing::thing("b", "8", 0)];
    let List { meta, items } = check(Encoding::Protobuf, &testing::list("ThingList", "9", &things)).unwrap();
    assert_eq!(
        meta,
        ListMeta { resource_version: "9".into(), continue_token: Some("c".to_owned()), remaining: Some(4) }
    );
    let items: Vec<_> = items.iter().map(|it| format!("{}@{} {}", it.key(), it.resource_version(), it.size)).collect();
    assert_eq!(items, ["x/a@7 3", "x/b@8 0"]);
}

/// A list that is not as it should be, from the fields of its envelope.
fn envelope(fields: &[Vec<u8>]) -> Vec<u8> {
    [b"k8s\0".to_vec(), fields.concat()].concat()
}

#[rstest]
#[case::json(b"{\"kind\":\"ThingList\"}".to_vec(), "cannot decode ThingList: the message: no envelope of Kubernetes")]
#[case::empty(vec![], "ThingList ended within items[0], 0 bytes from its beginning")]
#[case::status(testing::list("Status", "9", &[]), "expected ThingList, the server sent Status")]
#[case::unnamed(envelope(&[bytes(2, b"")]), "expected ThingList, the server sent an object that does not say what it is")]
#[case::zipped(envelope(&[bytes(3, b"gzip")]), "cannot decode ThingList: field 3: expected no content encoding")]
#[case::twice(envelope(&[bytes(2, b""), bytes(2, b"")]), "cannot decode ThingList: field 2: expected one list")]
#[case::no_list(envelope(&[bytes(1, &text(2, "ThingList"))]), "ThingList ended within items[0], 17 bytes")]
#[case::overlap(
    envelope(&[bytes(1, &text(2, "ThingList")), bytes(2, b"\x12\x05")]),
    "cannot decode ThingList: field 2: the message ends within it"
)]
#[case::group(envelope(&[bytes(2, b"\x0b")]), "cannot decode ThingList: field 1: groups are not supported")]
#[case::item(
    envelope(&[bytes(1, &text(2, "ThingList")), bytes(2, &bytes(2, b"\x10\x80"))]),
    "cannot decode ThingList items[0]: field 2: the message ends within it"
)]
#[case::nameless(
    envelope(&[bytes(1, &text(2, "ThingList")), bytes(2, &bytes(2, b""))]),
    "cannot decode Thing: an object without metadata.name"
)]
fn refuses_protobuf(#[case] body: Vec<u8>, #[case] expect: &str) {
    let error = check(Encoding::Protobuf, &body).unwrap_err();
    assert!(error.starts_with(expect), "{error}");
}

#[test]
fn skips_what_it_does_not_know() {
    let mut list = bytes(9, &[7; 300]);
    list.extend(bytes(2, &testing::thing("a", "7", 1)));
    list.extend(b"\x40\x96\x01\x49\0\0\0\0\0\0\0\0");
    let body = envelope(&[bytes(9, &[7; 300]), bytes(1, &text(2, "ThingList")), bytes(2, &list), bytes(4, b"x")]);
    assert_eq!(check(Encoding::Protobuf, &body).unwrap().items.len(), 1);
}

#[test]
fn a_list_that_is_cut_anywhere_is_an_error() {
    let things = [testing::thing("a", "7", 3), testing::thing("b", "8", 0)];
    let protobuf = testing::list("ThingList", "9", &things);
    let json = br#"{"kind":"ThingList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]}"#;
    for (encoding, body) in [(Encoding::Protobuf, &protobuf[..]), (Encoding::Json, &json[..])] {
        for end in 0..body.len() {
            // What follows the list in the envelope (a content type, empty) says nothing.
            let complete = encoding == Encoding::Protobuf && [body.len() - 4, body.len() - 2].contains(&end);
            assert_eq!(read(encoding, &body[..end], 7).is_ok(), complete, "{encoding}, {end} of {} bytes", body.len());
        }
    }
}
