use rstest::rstest;

use super::*;
use crate::{
    Object,
    testing::{self, Thing, bytes, text},
};

/// Decodes a list in chunks of `step` bytes. Undecodable items are returned separately, as `key@version: error`.
fn read_all(encoding: Encoding, body: &[u8], step: usize) -> Result<(List<Thing>, Vec<String>), String> {
    let mut reader = ListReader::with_limit(encoding, 100);
    let (mut items, mut undecodable) = (Vec::new(), Vec::new());
    for chunk in body.chunks(step) {
        reader.push(chunk);
        while let Some(item) = reader.next_item().map_err(|error| error.to_string())? {
            match item {
                Ok(item) => items.push(item),
                Err(it) => {
                    let key = it.key.map(|key| key.to_string()).unwrap_or_default();
                    undecodable.push(format!("{key}@{}: {}", it.resource_version, it.error));
                }
            }
        }
    }
    let meta = reader.finish().map_err(|error| error.to_string())?;
    Ok((List { meta, items }, undecodable))
}

/// As `read_all`; an undecodable item is an error.
fn read(encoding: Encoding, body: &[u8], step: usize) -> Result<List<Thing>, String> {
    let (list, undecodable) = read_all(encoding, body, step)?;
    undecodable.into_iter().next().map_or(Ok(list), Err)
}

/// Decodes a list as a whole, and asserts that every chunk size gives the same result.
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
fn decodes_a_page(#[case] body: &str) {
    let List { meta, items } = check(Encoding::Json, body.as_bytes()).unwrap();
    let (version, continue_token) = ("9".into(), Some("c".to_owned()));
    assert_eq!(meta, ListMeta { resource_version: version, continue_token, remaining: Some(4) });
    let items: Vec<_> = items.iter().map(|item| format!("{} {}", item.key(), item.size)).collect();
    assert_eq!(items, ["x/a 3", "b 0"]);
}

#[rstest]
#[case::null_items(r#"{"kind":"ThingList","metadata":{"resourceVersion":"9"},"items":null}"#)]
#[case::no_items(r#"{"kind":"ThingList","metadata":{"resourceVersion":"9"}}"#)]
#[case::last_page(r#"{"kind":"ThingList","metadata":{"resourceVersion":"9","continue":""},"items":[]}"#)]
#[case::metadata_in_two_parts(
    r#"{"kind":"ThingList","metadata":{"resourceVersion":"9"},"items":[],"metadata":{"continue":null}}"#
)]
fn decodes_empty_lists(#[case] body: &str) {
    let list = check(Encoding::Json, body.as_bytes()).unwrap();
    assert!(list.items.is_empty() && list.meta.continue_token.is_none(), "{list:?}");
}

#[rstest]
#[case::status(r#"{"kind":"Status","code":500}"#, "cannot decode ThingList: the server sent Status")]
#[case::nothing("{}", "cannot decode ThingList: expected metadata or items before the end at byte 2")]
#[case::late_kind(r#"{"items":[],"kind":"PodList"}"#, "cannot decode ThingList: the server sent PodList")]
#[case::no_kind(
    r#"{"metadata":{"resourceVersion":"9"},"items":[]}"#,
    "cannot decode ThingList: the server sent an object without kind"
)]
#[case::kind_is_null(
    r#"{"kind":null,"metadata":{"resourceVersion":"9"},"items":[]}"#,
    "cannot decode ThingList: the server sent an object without kind"
)]
#[case::nothing_but_metadata(r#"{"metadata":{}}"#, "cannot decode ThingList: the server sent an object without kind")]
#[case::no_version(
    r#"{"kind":"ThingList","metadata":{},"items":[]}"#,
    "cannot decode ThingList: metadata.resourceVersion is missing"
)]
#[case::no_metadata(
    r#"{"kind":"ThingList","items":[]}"#,
    "cannot decode ThingList: metadata.resourceVersion is missing"
)]
#[case::version_is_null(
    r#"{"kind":"ThingList","metadata":{"resourceVersion":null},"items":[]}"#,
    "cannot decode ThingList: metadata.resourceVersion is missing"
)]
#[case::other_version_of_the_api(
    r#"{"kind":"ThingList","apiVersion":"v2","metadata":{"resourceVersion":"9"},"items":[]}"#,
    "cannot decode ThingList of v1: the server sent ThingList of v2"
)]
#[case::other_group(
    r#"{"kind":"ThingList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"9"},"items":[]}"#,
    "cannot decode ThingList of v1: the server sent ThingList of example.com/v1"
)]
#[case::malformed_item(
    r#"{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"size":01}]}"#,
    "cannot decode ThingList: items[1].size: "
)]
#[case::metadata(r#"{"metadata":{"resourceVersion":{}}}"#, "cannot decode ThingList: metadata.resourceVersion: ")]
#[case::scalar(r#"{"items":[7]}"#, "cannot decode ThingList: expected an item or `]` at byte 10")]
#[case::no_array(r#"{"items":{}}"#, "cannot decode ThingList: expected one array of items or null at byte 11")]
#[case::twice(r#"{"items":[],"items":[]}"#, "cannot decode ThingList: expected one array of items or null at byte 22")]
#[case::comma(r#"{"items":[{"metadata":{"name":"a"}},]}"#, "cannot decode ThingList: expected an item at")]
#[case::trailing(r#"{"items":[]} {}"#, "cannot decode ThingList: expected nothing more at byte 13")]
#[case::hidden(r#"{"\u0069tems":[]}"#, "cannot decode ThingList: expected a key without escapes at byte 13")]
#[case::cut(r#"{"items":[{"metadata""#, "cannot decode ThingList: truncated at items[0], byte 10")]
#[case::cut_between(
    r#"{"items":[{"metadata":{"name":"a"}},"#,
    "cannot decode ThingList: truncated at items[1], byte 36"
)]
#[case::empty("", "cannot decode ThingList: truncated at items[0], byte 0")]
#[case::text("upstream connect error", "cannot decode ThingList: expected an object at byte 0")]
fn invalid_list_is_an_error(#[case] body: &str, #[case] expect: &str) {
    let error = check(Encoding::Json, body.as_bytes()).unwrap_err();
    assert!(error.starts_with(expect), "{error}");
}

#[test]
fn long_item_is_an_error() {
    let long = "x".repeat(100);
    let body = format!(r#"{{"items":[{{"metadata":{{"name":"a"}}}},{{"metadata":{{"name":"{long}"}}}}]}}"#);
    assert_eq!(
        check(Encoding::Json, body.as_bytes()).unwrap_err(),
        "cannot decode ThingList: items[1] is longer than 100 bytes"
    );
    let things = [testing::thing("a", "7", 1), testing::thing(&long, "7", 1)];
    let body = testing::list("ThingList", "9", &things);
    assert_eq!(
        check(Encoding::Protobuf, &body).unwrap_err(),
        "cannot decode ThingList: items[1] is longer than 100 bytes"
    );
}

#[test]
fn decodes_a_protobuf_list() {
    let things = [testing::thing("a", "7", 3), testing::thing("b", "8", 0)];
    let List { meta, items } = check(Encoding::Protobuf, &testing::list("ThingList", "9", &things)).unwrap();
    assert_eq!(
        meta,
        ListMeta { resource_version: "9".into(), continue_token: Some("c".to_owned()), remaining: Some(4) }
    );
    let items: Vec<_> = items.iter().map(|it| format!("{}@{} {}", it.key(), it.resource_version(), it.size)).collect();
    assert_eq!(items, ["x/a@7 3", "x/b@8 0"]);
}

/// Encodes the `runtime.TypeMeta` of a list.
fn type_meta(api_version: &str) -> Vec<u8> {
    [text(1, api_version), text(2, "ThingList")].concat()
}

/// Encodes an envelope from its fields, which may be malformed.
fn envelope(fields: &[Vec<u8>]) -> Vec<u8> {
    [b"k8s\0".to_vec(), fields.concat()].concat()
}

#[rstest]
#[case::json(b"{\"kind\":\"ThingList\"}".to_vec(), "cannot decode ThingList: the message: no Kubernetes envelope")]
#[case::empty(vec![], "cannot decode ThingList: truncated at items[0], byte 0")]
#[case::status(testing::list("Status", "9", &[]), "cannot decode ThingList: the server sent Status")]
#[case::unnamed(envelope(&[bytes(2, b"")]), "cannot decode ThingList: the server sent an object without kind")]
#[case::zipped(envelope(&[bytes(3, b"gzip")]), "cannot decode ThingList: field 3: expected an empty content encoding")]
#[case::twice(envelope(&[bytes(2, b""), bytes(2, b"")]), "cannot decode ThingList: field 2: expected one list")]
#[case::no_list(envelope(&[bytes(1, &type_meta("v1"))]), "cannot decode ThingList: truncated at items[0], byte 21")]
#[case::overlap(
    envelope(&[bytes(1, &type_meta("v1")), bytes(2, b"\x12\x05")]),
    "cannot decode ThingList: field 2: unexpected end of message"
)]
#[case::group(envelope(&[bytes(2, b"\x0b")]), "cannot decode ThingList: field 1: groups are not supported")]
#[case::no_version(
    envelope(&[bytes(1, &type_meta("v1")), bytes(2, &bytes(2, &testing::thing("a", "7", 1)))]),
    "cannot decode ThingList: metadata.resourceVersion is missing"
)]
#[case::other_version_of_the_api(
    envelope(&[bytes(1, &type_meta("v2")), bytes(2, b"")]),
    "cannot decode ThingList of v1: the server sent ThingList of v2"
)]
fn invalid_protobuf_list_is_an_error(#[case] body: Vec<u8>, #[case] expect: &str) {
    let error = check(Encoding::Protobuf, &body).unwrap_err();
    assert!(error.starts_with(expect), "{error}");
}

/// The items before and after an undecodable one are decoded, and its key and error are returned.
#[rstest]
#[case::of_the_wrong_shape(
    r#"{"metadata":{"name":"b","namespace":"x","resourceVersion":"8"},"size":"big"}"#,
    "x/b@8: cannot decode ThingList: items[1].size: "
)]
#[case::out_of_range(r#"{"metadata":{"name":"b"},"size":4294967296}"#, "b@: cannot decode ThingList: items[1].size: ")]
#[case::metadata(
    r#"{"metadata":{"name":"b","resourceVersion":7}}"#,
    "b@: cannot decode ThingList: items[1].metadata.resourceVersion: "
)]
#[case::nameless(r#"{"metadata":{"resourceVersion":"8"}}"#, "@8: cannot decode Thing: metadata.name is missing")]
#[case::null("null", "@: cannot decode ThingList: items[1]: ")]
fn undecodable_item_does_not_end_the_list(#[case] item: &str, #[case] expect: &str) {
    let body = format!(
        r#"{{"kind":"ThingList","metadata":{{"resourceVersion":"9"}},"items":[{{"metadata":{{"name":"a"}}}},{item},{{"metadata":{{"name":"c"}}}}]}}"#
    );
    for step in 1..body.len() {
        let (List { meta, items }, undecodable) = read_all(Encoding::Json, body.as_bytes(), step).unwrap();
        assert_eq!(meta.resource_version, "9");
        assert_eq!(items.iter().map(Object::name).collect::<Vec<_>>(), ["a", "c"]);
        assert!(undecodable.len() == 1 && undecodable[0].starts_with(expect), "{undecodable:?}");
    }
}

#[rstest]
#[case::cut(
    [testing::thing("b", "8", 1), b"\x10\x80".to_vec()].concat(),
    "x/b@8: cannot decode ThingList items[1]: field 2: unexpected end of message"
)]
#[case::nameless(vec![], "@: cannot decode Thing: metadata.name is missing")]
#[case::garbage(vec![0xff; 9], "@: cannot decode ThingList items[1]: the message: unexpected end of message")]
fn undecodable_protobuf_item_does_not_end_the_list(#[case] item: Vec<u8>, #[case] expect: &str) {
    let body = testing::list("ThingList", "9", &[testing::thing("a", "7", 3), item, testing::thing("c", "8", 0)]);
    for step in 1..body.len() {
        let (List { items, .. }, undecodable) = read_all(Encoding::Protobuf, &body, step).unwrap();
        assert_eq!(items.iter().map(Object::name).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(undecodable, [expect]);
    }
}

#[test]
fn unknown_fields_are_skipped() {
    let mut list = [bytes(9, &[7; 30]), bytes(1, &text(2, "9"))].concat();
    list.extend(bytes(2, &testing::thing("a", "7", 1)));
    list.extend(b"\x40\x96\x01\x49\0\0\0\0\0\0\0\0");
    let body = envelope(&[bytes(9, &[7; 30]), bytes(1, &type_meta("v1")), bytes(2, &list), bytes(4, b"x")]);
    assert_eq!(check(Encoding::Protobuf, &body).unwrap().items.len(), 1);
}

#[test]
fn truncated_list_is_an_error() {
    let things = [testing::thing("a", "7", 3), testing::thing("b", "8", 0)];
    let protobuf = testing::list("ThingList", "9", &things);
    let json = br#"{"kind":"ThingList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]}"#;
    for (encoding, body) in [(Encoding::Protobuf, &protobuf[..]), (Encoding::Json, &json[..])] {
        for end in 0..body.len() {
            // The fields after the list in the envelope (content encoding and content type, empty here) may be missing.
            let complete = encoding == Encoding::Protobuf && [body.len() - 4, body.len() - 2].contains(&end);
            assert_eq!(read(encoding, &body[..end], 7).is_ok(), complete, "{encoding}, {end} of {} bytes", body.len());
        }
    }
}
