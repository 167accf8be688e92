//! Messages of things in protobuf.

use kube_wire::Decode as _;
use kube_wire::protobuf::{Writer, enveloped};

use crate::thing::Thing;

/// Returns a message whose fields `write` writes.
pub(crate) fn message(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut message = Writer::default();
    write(&mut message);
    message.as_bytes().to_vec()
}

pub(crate) fn thing(name: &str, version: u64) -> Vec<u8> {
    message(|thing| {
        thing.message(1, |metadata| {
            metadata.text(1, name);
            metadata.text(3, "shop");
            metadata.text(5, &format!("uid-{name}"));
            metadata.display(6, &version);
        });
    })
}

/// Returns the frame of the bookmark that ends the initial events.
pub(crate) fn bookmark(version: u64) -> Vec<u8> {
    let object = message(|object| {
        object.message(1, |metadata| {
            metadata.display(6, &version);
            metadata.entry(12, "k8s.io/initial-events-end", "true");
        });
    });
    frame("BOOKMARK", &object)
}

pub(crate) fn frame(event: &str, object: &[u8]) -> Vec<u8> {
    let frame = message(|frame| {
        frame.text(1, event);
        frame.message(2, |raw| raw.bytes(1, &enveloped(&Thing::RESOURCE, object)));
    });
    let length = u32::try_from(frame.len()).expect("a short frame");
    [&length.to_be_bytes()[..], &frame].concat()
}
