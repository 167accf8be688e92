use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// Counts the fields of a message and of everything in it that parses as a message, down to `depth`.
fn walk(fields: Fields<'_>, depth: u32) -> Result<usize, MalformedProtobuf> {
    let mut count = 0;
    for field in fields {
        let field = field?;
        count += 1;
        if depth > 0 && matches!(field.value, Value::Bytes(_)) {
            // Most byte strings are not messages.
            count += walk(field.message()?, depth - 1).unwrap_or_default();
        }
    }
    Ok(count)
}

fn single_field(message: &[u8]) -> Field<'_> {
    let mut fields = Fields::new(message);
    let field = fields.next().unwrap().unwrap();
    assert_eq!(fields.next(), None);
    field
}

#[rstest]
#[case::varint(b"\x08\x96\x01", 1, Value::Varint(150))]
#[case::negative(b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 2, Value::Varint(u64::MAX))]
#[case::bytes(b"\x1a\x02ab", 3, Value::Bytes(b"ab"))]
#[case::empty(b"\x1a\x00", 3, Value::Bytes(b""))]
#[case::fixed64(b"\x21\x01\0\0\0\0\0\0\x02", 4, Value::Fixed64(0x0200_0000_0000_0001))]
#[case::fixed32(b"\x2d\x01\0\0\x02", 5, Value::Fixed32(0x0200_0001))]
#[case::large_number(b"\x82\x20\x01a", 512, Value::Bytes(b"a"))]
#[case::padded_length(b"\x1a\x81\x00a", 3, Value::Bytes(b"a"))]
fn decodes_values(#[case] message: &[u8], #[case] number: u32, #[case] value: Value<'_>) {
    let field = single_field(message);
    assert_eq!((field.number, field.value), (number, value));
}

#[rstest]
#[case::tag(b"\x80", "the message: unexpected end of message")]
#[case::varint(b"\x08\x96", "field 1: unexpected end of message")]
#[case::length(b"\x1a", "field 3: unexpected end of message")]
#[case::bytes(b"\x1a\x03ab", "field 3: unexpected end of message")]
#[case::huge(b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01ab", "field 3: unexpected end of message")]
#[case::fixed64(b"\x21\x01\0\0\0\0\0\0", "field 4: unexpected end of message")]
#[case::fixed32(b"\x2d\x01\0\0", "field 5: unexpected end of message")]
#[case::overlong(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "field 1: varint exceeds 64 bits")]
#[case::endless(b"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", "field 1: varint exceeds 64 bits")]
#[case::zero(b"\x00\x01", "the message: invalid field number")]
#[case::too_large(b"\x80\x80\x80\x80\x10\x01", "the message: invalid field number")]
#[case::group(b"\x0b\x0c", "field 1: groups are not supported")]
#[case::group_end(b"\x0c", "field 1: groups are not supported")]
#[case::wire_type(b"\x0e", "field 1: unknown wire type 6")]
fn malformed_message_is_an_error(#[case] message: &[u8], #[case] expect: &str) {
    let mut fields = Fields::new(message);
    let error = fields.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), expect);
    assert_eq!(fields.next(), None, "nothing follows an error");
}

#[test]
fn varints_convert_to_integers_and_booleans() {
    let field = single_field(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    assert_eq!((field.as_i32(), field.as_i64(), field.as_bool()), (Ok(-1), Ok(-1), Ok(true)));
    assert_eq!(single_field(b"\x08\x00").as_bool(), Ok(false));
}

#[rstest]
#[case::text(single_field(b"\x08\x01").text().unwrap_err(), "field 1: expected bytes")]
#[case::number(single_field(b"\x12\x01a").as_i32().unwrap_err(), "field 2: expected a number")]
#[case::message(single_field(b"\x25\0\0\0\0").message().unwrap_err(), "field 4: expected a message")]
#[case::utf8(single_field(b"\x12\x01\xff").utf8().unwrap_err(), "field 2: invalid UTF-8")]
#[case::nested(single_field(b"\x12\x02\x08\x01").entry().unwrap_err(), "field 2.1: expected bytes")]
fn error_contains_field_path(#[case] error: MalformedProtobuf, #[case] expect: &str) {
    assert_eq!(error.to_string(), expect);
    let error = error.reading("Pod").with_resource_version(&"7".into()).to_string();
    assert_eq!(error, format!("cannot decode Pod after resourceVersion 7: {expect}"));
}

#[rstest]
#[case(&[1, 2, 3], "field 1.2.3")]
#[case(&[300, 1], "field 255+.1")]
#[case(&[1, 2, 3, 4, 5, 6, 7, 8, 9], "field 2.3.4.5.6.7.8.9")]
#[case(&[], "the message")]
fn path_formats_the_innermost_field_numbers(#[case] numbers: &[u32], #[case] expect: &str) {
    let path = numbers.iter().fold(Path::default(), |path, number| path.child(*number));
    assert_eq!(path.to_string(), expect);
}

#[rstest]
#[case::both(b"\x0a\x06\x0a\x01k\x12\x01v", ("k", "v"))]
#[case::no_value(b"\x0a\x03\x0a\x01k", ("k", ""))]
#[case::turned_round(b"\x0a\x06\x12\x01v\x0a\x01k", ("k", "v"))]
#[case::unknown_field(b"\x0a\x05\x0a\x01k\x18\x01", ("k", ""))]
fn decodes_map_entries(#[case] message: &[u8], #[case] expect: (&str, &str)) {
    assert_eq!(single_field(message).entry(), Ok((expect.0.into(), expect.1.into())));
}

#[test]
fn invalid_utf8_bytes_are_replaced_one_by_one() {
    assert_eq!(single_field(b"\x12\x05a\xe2\x82b\xff").text(), Ok("a\u{fffd}\u{fffd}b\u{fffd}".into()));
    assert_eq!(single_field(b"\x12\x06\x0a\x01\xff\x12\x01v").entry(), Ok(("\u{fffd}".into(), "v".into())));
}

#[rstest]
#[case::none(b"\x0a\x00", None)]
#[case::seconds(b"\x0a\x02\x08\x05", Some((5, 0)))]
#[case::nanos(b"\x0a\x04\x08\x05\x10\x07", Some((5, 7)))]
#[case::before_the_epoch(b"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Some((-1, 0)))]
fn decodes_times(#[case] message: &[u8], #[case] expect: Option<(i64, i32)>) {
    assert_eq!(single_field(message).time(), Ok(expect.map(|(seconds, nanos)| Timestamp { seconds, nanos })));
}

proptest! {
    #[test]
    fn random_bytes_terminate(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let count = walk(Fields::new(&bytes), 3);
        prop_assert!(count.is_err() || count.unwrap() <= bytes.len());
    }
}
