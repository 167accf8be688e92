//! Encoding to protobuf: the parts common to all written types. The bytes equal those of Go's encoders, fields that are
//! empty but always written included, so that a response can be compared with the request.

use jiff::Timestamp;
use kube_wire::protobuf::{Fields, Writer};
use kube_wire::{Decode as _, DecodeError, Encode};

use crate::protobuf::Message as _;
use crate::{EndpointSlice, Endpoints, Labels, ObjectMeta, ObjectReference, OwnerReference, TargetRef};

/// Field of the metadata in the message of every object.
const METADATA: u32 = 1;

/// A type that is encoded as a protobuf message.
pub(crate) trait ToMessage {
    /// Writes the fields of the message.
    fn write(&self, message: &mut Writer);
}

/// Writes an element of a repeated message field for each value.
pub(crate) fn messages<'a, T: ToMessage + 'a>(
    message: &mut Writer,
    number: u32,
    values: impl IntoIterator<Item = &'a T>,
) {
    for value in values {
        message.message(number, |it| value.write(it));
    }
}

/// Writes a map field.
pub(crate) fn map(message: &mut Writer, number: u32, labels: &Labels) {
    for (key, value) in labels.iter() {
        message.entry(number, key, value);
    }
}

/// Returns the decoded metadata of an object if its other fields are those of `request`, byte for byte.
fn metadata_if_equal(request: &[u8], response: &[u8]) -> Option<Result<ObjectMeta, DecodeError>> {
    let parts = |object| {
        let mut fields = Fields::new(object);
        let metadata = fields.next()?.ok().filter(|field| field.number == METADATA)?;
        Some((metadata, fields.rest()))
    };
    let (_, requested) = parts(request)?;
    let (metadata, stored) = parts(response)?;
    // A second metadata field would be merged.
    if requested != stored {
        return None;
    }
    let mut decoded = ObjectMeta::default();
    let merged = metadata.message().and_then(|fields| decoded.merge(fields));
    Some(merged.map(|()| decoded).map_err(|error| error.reading("ObjectMeta")))
}

/// Implements [`Encode`] for a type with metadata.
macro_rules! encode {
    ($type:ty) => {
        impl Encode for $type {
            fn to_protobuf(&self, message: &mut Writer) -> bool {
                message.message(METADATA, |it| self.metadata.write(it));
                self.write(message);
                true
            }

            fn response_from_protobuf(&self, request: &[u8], response: &[u8]) -> Result<Self, DecodeError> {
                match metadata_if_equal(request, response) {
                    Some(metadata) => metadata.map(|metadata| Self { metadata, ..self.clone() }),
                    None => Self::from_protobuf(response),
                }
            }
        }
    };
}

encode!(Endpoints);
encode!(EndpointSlice);

impl ToMessage for ObjectMeta {
    fn write(&self, message: &mut Writer) {
        message.text(1, &self.name);
        message.text(2, self.generate_name.as_deref().unwrap_or_default());
        message.text(3, &self.namespace);
        message.text(4, self.self_link.as_deref().unwrap_or_default());
        message.display(5, &self.uid);
        message.display(6, &self.resource_version);
        message.number(7, self.generation);
        message.time(8, self.creation_timestamp.map(Timestamp::as_second));
        if let Some(time) = self.deletion_timestamp {
            message.time(9, Some(time.as_second()));
        }
        if let Some(seconds) = self.deletion_grace_period_seconds {
            message.number(10, seconds);
        }
        map(message, 11, &self.labels);
        map(message, 12, &self.annotations);
        messages(message, 13, &self.owner_references);
        for finalizer in &self.finalizers {
            message.text(14, finalizer);
        }
    }
}

impl ToMessage for OwnerReference {
    fn write(&self, message: &mut Writer) {
        message.text(1, &self.kind);
        message.text(3, &self.name);
        message.display(4, &self.uid);
        message.text(5, &self.api_version);
        if let Some(controller) = self.controller {
            message.boolean(6, controller);
        }
        if let Some(blocks) = self.block_owner_deletion {
            message.boolean(7, blocks);
        }
    }
}

impl ToMessage for TargetRef {
    fn write(&self, message: &mut Writer) {
        let ObjectReference { api_version, field_path, kind, name, namespace, resource_version, uid } =
            &ObjectReference::from(self);
        message.text(1, kind);
        message.text(2, namespace);
        message.text(3, name);
        message.display(4, uid);
        message.text(5, api_version);
        message.display(6, resource_version);
        message.text(7, field_path);
    }
}
