//! Checks of the decoders: decoding any bytes must not panic, and must not depend on how the bytes arrive.

pub mod renderings;
pub mod seeds;

use std::fmt::Debug;

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_wire::{Decode, DecodeError, Encoding, ListReader, WatchReader};

use self::renderings::{Choices, Shape};

/// Limit on the size of an item in bytes, so low that short inputs reach it.
const LIMIT: usize = 4096;

/// Check of any bytes. Returns whether they were decoded to the end; panics on a finding.
pub type Check = fn(&[u8]) -> bool;

/// Names and checks of all targets.
pub const TARGETS: [(&str, Check); 4] =
    [("list", list), ("watch", watch), ("object", object), ("renderings", renderings)];

/// Checks that a list decodes to the same items in chunks and at once. The first byte selects the encoding:
/// [`seeds::PROTOBUF`], any other byte is JSON. The second is the size of the chunks minus one.
pub fn list(bytes: &[u8]) -> bool {
    let Some((encoding, step, body)) = cut(bytes) else { return false };
    let read = |step: usize| {
        let mut reader = ListReader::<Service>::with_limit(encoding, LIMIT);
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

/// Checks that a watch decodes to the same events in chunks and at once. The first two bytes are those of [`list`].
pub fn watch(bytes: &[u8]) -> bool {
    let Some((encoding, step, body)) = cut(bytes) else { return false };
    let read = |step: usize| {
        let mut reader = WatchReader::<Service>::with_limit(encoding, "1".into(), LIMIT);
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

/// Returns the encoding, the size of the chunks, and the remaining bytes.
fn cut(bytes: &[u8]) -> Option<(Encoding, usize, &[u8])> {
    let ([encoding, step], body) = bytes.split_first_chunk()?;
    let encoding = if *encoding == seeds::PROTOBUF { Encoding::Protobuf } else { Encoding::Json };
    Some((encoding, usize::from(*step) + 1, body))
}

/// Decodes one object and formats its key, uid and resource version, or the error. The first byte selects the kind, the
/// second the encoding.
pub fn object(bytes: &[u8]) -> bool {
    let Some(([kind, encoding], body)) = bytes.split_first_chunk() else { return false };
    let decode = match kind {
        b'p' => decode::<Pod>,
        b's' => decode::<Service>,
        b'n' => decode::<Node>,
        b'e' => decode::<Endpoints>,
        _ => decode::<EndpointSlice>,
    };
    decode(*encoding, body)
}

fn decode<T: Decode>(encoding: u8, body: &[u8]) -> bool {
    let object = if encoding == seeds::PROTOBUF { T::from_protobuf(body) } else { T::from_json(body) };
    match &object {
        Ok(object) => drop((object.key().to_string(), object.uid().to_string(), object.resource_version().to_string())),
        Err(error) => drop(error.to_string()),
    }
    object.is_ok()
}

/// Checks that an object and a different rendering of it decode to equal objects. The first two bytes are those of
/// [`object`]; the next eight are the seed of the rendering.
pub fn renderings(bytes: &[u8]) -> bool {
    let Some(([kind, encoding], bytes)) = bytes.split_first_chunk() else { return false };
    let Some((seed, body)) = bytes.split_at_checked(8) else { return false };
    let (check, kind): (Rendering, _) = match kind {
        b'p' => (rendering::<Pod>, "Pod"),
        b's' => (rendering::<Service>, "Service"),
        b'n' => (rendering::<Node>, "Node"),
        b'e' => (rendering::<Endpoints>, "Endpoints"),
        _ => (rendering::<EndpointSlice>, "EndpointSlice"),
    };
    check(*encoding, body, Shape::of_kind(kind), &mut Choices::new(seed))
}

type Rendering = fn(u8, &[u8], Shape, &mut Choices) -> bool;

fn rendering<T: Decode + PartialEq + Debug>(encoding: u8, body: &[u8], shape: Shape, choices: &mut Choices) -> bool {
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
