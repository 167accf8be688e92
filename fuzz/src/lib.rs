//! What the fuzz targets hold of any bytes.

#[expect(dead_code, reason = "a module of the tests of kube-wire, of which one kind is needed")]
#[path = "../../crates/wire/tests/it/meta.rs"]
mod meta;

use kube_wire::{Decode, Encoding, ListReader, WatchReader};

use self::meta::{Meta, Services};

/// A low limit, so that short inputs reach it.
const LIMIT: usize = 4096;

/// The first byte says how the rest is cut.
fn cut(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (step, body) = bytes.split_first()?;
    Some((usize::from(*step) + 1, body))
}

/// A list means the same however it is cut, and never panics.
pub fn list(encoding: Encoding, bytes: &[u8]) {
    let Some((step, body)) = cut(bytes) else { return };
    let read = |step: usize| {
        let mut reader = ListReader::<Meta<Services>>::with_limit(encoding, LIMIT);
        let mut items = Vec::new();
        for chunk in body.chunks(step) {
            reader.push(chunk);
            while let Some(item) = reader.next_item()? {
                items.push(item);
            }
        }
        Ok::<_, kube_wire::DecodeError>((items, reader.finish()?))
    };
    assert_eq!(read(step), read(body.len().max(1)));
}

/// A watch means the same however it is cut, and never panics.
pub fn watch(encoding: Encoding, bytes: &[u8]) {
    let Some((step, body)) = cut(bytes) else { return };
    let read = |step: usize| {
        let mut reader = WatchReader::<Meta<Services>>::with_limit(encoding, "1".into(), LIMIT);
        let mut events = Vec::new();
        for chunk in body.chunks(step) {
            reader.push(chunk);
            loop {
                match reader.next_event() {
                    Ok(Some(event)) => events.push(event),
                    Ok(None) => break,
                    Err(error) => return (events, Some(error), reader.resource_version().clone()),
                }
            }
        }
        (events, reader.finish().err(), reader.resource_version().clone())
    };
    assert_eq!(read(step), read(body.len().max(1)));
}

/// One object; the first byte says in which encoding. It never panics, and what could be read can be used.
pub fn object<T: Decode>(bytes: &[u8]) {
    let Some((encoding, body)) = bytes.split_first() else { return };
    let object = if *encoding == SEED_PROTOBUF { T::from_protobuf(body) } else { T::from_json(body) };
    match object {
        Ok(object) => drop((object.key().to_string(), object.uid().to_string(), object.resource_version().to_string())),
        Err(error) => drop(error.to_string()),
    }
}

/// The first byte of an object in protobuf.
pub const SEED_PROTOBUF: u8 = b'p';
/// The first byte of an object in JSON; any other byte does as well.
pub const SEED_JSON: u8 = b'j';
