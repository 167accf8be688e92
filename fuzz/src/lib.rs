//! What the fuzz targets hold of any bytes. A test of `kube-endpoint-model` runs the same for a moment.

#[expect(dead_code, reason = "a module of the tests of kube-wire, of which one kind is needed")]
#[path = "../../crates/wire/tests/it/meta.rs"]
mod meta;
pub mod renderings;
pub mod seeds;

use std::fmt::Debug;

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_wire::{Decode, DecodeError, Encoding, ListReader, WatchReader};

use self::{
    meta::{Meta, Services},
    renderings::{Choices, Shape, shapes},
};

/// A low limit, so that short inputs reach it.
const LIMIT: usize = 4096;

/// Checks any bytes, and says whether they could be read to the end.
pub type Check = fn(&[u8]) -> bool;

/// What each target checks, by its name.
pub const TARGETS: [(&str, Check); 10] = [
    ("list_json", list_json),
    ("list_protobuf", list_protobuf),
    ("watch_json", watch_json),
    ("watch_protobuf", watch_protobuf),
    ("pod", object::<Pod>),
    ("service", object::<Service>),
    ("node", object::<Node>),
    ("endpointslice", object::<EndpointSlice>),
    ("endpoints", object::<Endpoints>),
    ("renderings", renderings),
];

/// A list in JSON means the same however it is cut; the first byte says how.
pub fn list_json(bytes: &[u8]) -> bool {
    list(Encoding::Json, bytes)
}

/// A list in protobuf means the same however it is cut; the first byte says how.
pub fn list_protobuf(bytes: &[u8]) -> bool {
    list(Encoding::Protobuf, bytes)
}

/// A watch in JSON means the same however it is cut; the first byte says how.
pub fn watch_json(bytes: &[u8]) -> bool {
    watch(Encoding::Json, bytes)
}

/// A watch in protobuf means the same however it is cut; the first byte says how.
pub fn watch_protobuf(bytes: &[u8]) -> bool {
    watch(Encoding::Protobuf, bytes)
}

fn list(encoding: Encoding, bytes: &[u8]) -> bool {
    let Some((step, body)) = cut(bytes) else { return false };
    let read = |step: usize| {
        let mut reader = ListReader::<Meta<Services>>::with_limit(encoding, LIMIT);
        let mut items = Vec::new();
        for chunk in body.chunks(step) {
            reader.push(chunk);
            while let Some(item) = reader.next_item()?.transpose()? {
                items.push(item);
            }
        }
        Ok::<_, DecodeError>((items, reader.finish()?))
    };
    let in_pieces = read(step);
    assert_eq!(in_pieces, read(body.len().max(1)));
    in_pieces.is_ok()
}

fn watch(encoding: Encoding, bytes: &[u8]) -> bool {
    let Some((step, body)) = cut(bytes) else { return false };
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
    let in_pieces = read(step);
    assert_eq!(in_pieces, read(body.len().max(1)));
    in_pieces.1.is_none()
}

/// The first byte says how the rest is cut.
fn cut(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (step, body) = bytes.split_first()?;
    Some((usize::from(*step) + 1, body))
}

/// What can be read of one object can be used; the first byte says in which encoding it is.
pub fn object<T: Decode>(bytes: &[u8]) -> bool {
    let Some((encoding, body)) = bytes.split_first() else { return false };
    let object = if *encoding == seeds::PROTOBUF { T::from_protobuf(body) } else { T::from_json(body) };
    match &object {
        Ok(object) => drop((object.key().to_string(), object.uid().to_string(), object.resource_version().to_string())),
        Err(error) => drop(error.to_string()),
    }
    object.is_ok()
}

/// An object means the same in any rendering. The first byte says which kind it is of, the second in which encoding it is, the next
/// eight how it is rendered.
pub fn renderings(bytes: &[u8]) -> bool {
    let Some((kind, bytes)) = bytes.split_first() else { return false };
    let check = match kind {
        b'p' => rendering::<Pod>,
        b's' => rendering::<Service>,
        b'n' => rendering::<Node>,
        b'e' => rendering::<Endpoints>,
        _ => rendering::<EndpointSlice>,
    };
    let shape = match kind {
        b'p' => &shapes::POD,
        b's' => &shapes::SERVICE,
        b'n' => &shapes::NODE,
        b'e' => &shapes::ENDPOINTS,
        _ => &shapes::ENDPOINT_SLICE,
    };
    let Some((encoding, bytes)) = bytes.split_first() else { return false };
    let Some((seed, body)) = bytes.split_at_checked(8) else { return false };
    check(*encoding, body, shape, &mut Choices::new(seed))
}

fn rendering<T: Decode + PartialEq + Debug>(encoding: u8, body: &[u8], shape: &Shape, choices: &mut Choices) -> bool {
    if encoding == seeds::PROTOBUF {
        let Ok(object) = T::from_protobuf(body) else { return false };
        let Ok(rendered) = renderings::protobuf(body, shape, choices) else { return false };
        assert_eq!(T::from_protobuf(&rendered).as_ref(), Ok(&object), "{}", rendered.escape_ascii());
    } else {
        let Ok(document) = serde_json::from_slice(body) else { return false };
        let Ok(object) = T::from_json(serde_json::Value::to_string(&document).as_bytes()) else { return false };
        let rendered = renderings::json(&document, shape, choices);
        assert_eq!(T::from_json(&rendered).as_ref(), Ok(&object), "{}", String::from_utf8_lossy(&rendered));
    }
    true
}
