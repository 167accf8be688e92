//! Encoding to protobuf: the parts common to all written types. The bytes equal those of Go's encoders, fields that are
//! empty but always written included, so that a response can be compared with the request.

use jiff::Timestamp;
use kube_wire::protobuf::{Fields, Writer};
use kube_wire::{Decode as _, DecodeError, Encode};

use crate::protobuf::fields::{object, object_meta, object_reference, owner_reference};
use crate::{EndpointSlice, Endpoints, Labels, ObjectMeta, ObjectReference, OwnerReference, TargetRef};

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

pub(crate) fn map(message: &mut Writer, number: u32, labels: &Labels) {
    for (key, value) in labels.iter() {
        message.entry(number, key, value);
    }
}

/// Returns the decoded metadata of an object if its other fields are those of `request`, byte for byte.
fn metadata_if_equal(request: &[u8], response: &[u8]) -> Option<Result<ObjectMeta, DecodeError>> {
    let parts = |object| {
        let mut fields = Fields::new(object);
        let metadata = fields.next()?.ok().filter(|field| field.number == object::METADATA)?;
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
                message.message(object::METADATA, |it| self.metadata.write(it));
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
        message.text(object_meta::NAME, &self.name);
        message.text(object_meta::GENERATE_NAME, self.generate_name.as_deref().unwrap_or_default());
        message.text(object_meta::NAMESPACE, &self.namespace);
        message.text(object_meta::SELF_LINK, self.self_link.as_deref().unwrap_or_default());
        message.display(object_meta::UID, &self.uid);
        message.display(object_meta::RESOURCE_VERSION, &self.resource_version);
        message.number(object_meta::GENERATION, self.generation);
        message.time(object_meta::CREATION_TIMESTAMP, self.creation_timestamp.map(Timestamp::as_second));
        if let Some(time) = self.deletion_timestamp {
            message.time(object_meta::DELETION_TIMESTAMP, Some(time.as_second()));
        }
        if let Some(seconds) = self.deletion_grace_period_seconds {
            message.number(object_meta::DELETION_GRACE_PERIOD_SECONDS, seconds);
        }
        map(message, object_meta::LABELS, &self.labels);
        map(message, object_meta::ANNOTATIONS, &self.annotations);
        messages(message, object_meta::OWNER_REFERENCES, &self.owner_references);
        for finalizer in &self.finalizers {
            message.text(object_meta::FINALIZERS, finalizer);
        }
    }
}

impl ToMessage for OwnerReference {
    fn write(&self, message: &mut Writer) {
        message.text(owner_reference::KIND, &self.kind);
        message.text(owner_reference::NAME, &self.name);
        message.display(owner_reference::UID, &self.uid);
        message.text(owner_reference::API_VERSION, &self.api_version);
        if let Some(controller) = self.controller {
            message.boolean(owner_reference::CONTROLLER, controller);
        }
        if let Some(blocks) = self.block_owner_deletion {
            message.boolean(owner_reference::BLOCK_OWNER_DELETION, blocks);
        }
    }
}

impl ToMessage for TargetRef {
    fn write(&self, message: &mut Writer) {
        let ObjectReference { api_version, field_path, kind, name, namespace, resource_version, uid } =
            &ObjectReference::from(self);
        message.text(object_reference::KIND, kind);
        message.text(object_reference::NAMESPACE, namespace);
        message.text(object_reference::NAME, name);
        message.display(object_reference::UID, uid);
        message.text(object_reference::API_VERSION, api_version);
        message.display(object_reference::RESOURCE_VERSION, resource_version);
        message.text(object_reference::FIELD_PATH, field_path);
    }
}
