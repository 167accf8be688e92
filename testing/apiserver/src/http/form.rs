//! Encodes objects, lists and watch events in the form that the client requested.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::HeaderMap;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::accept::{self, Form};
use crate::cluster::Stored;
use crate::kinds::Kind;
use crate::protobuf;
use crate::shared::Shared;
use crate::table::{Column, Printer};

const META: &str = "meta.k8s.io/v1";

/// Value of `includeObject`: how much of its object a table row contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum IncludeObject {
    Nothing,
    #[default]
    Metadata,
    Whole,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ResponseForm {
    form: Form,
    /// Whether objects are without `metadata.managedFields`.
    without_managed_fields: bool,
    include: IncludeObject,
    /// Time at which the ages in table cells are computed.
    now: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Table<'a, M> {
    kind: &'static str,
    api_version: &'static str,
    metadata: M,
    /// `None` in all watch events after the first.
    column_definitions: Option<&'a [Column]>,
    rows: Vec<Value>,
}

impl ResponseForm {
    /// Returns the form of objects of `kind`: protobuf if the client prefers it and the kind has a protobuf encoding.
    pub(super) fn new(headers: &HeaderMap, kind: &Kind, include: IncludeObject, shared: &Shared) -> Self {
        let protobuf = accept::protobuf_range(headers);
        let protobuf = protobuf.filter(|_| protobuf::is_supported(&kind.api_version(), &kind.name));
        let (form, range) = protobuf.map_or_else(|| accept::form(headers), |range| (Form::Protobuf, range));
        let without_managed_fields = shared.config.managed_fields_opt_out && range.drops_managed_fields();
        Self { form, without_managed_fields, include, now: shared.now() }
    }

    pub(super) fn is_protobuf(self) -> bool {
        self.form == Form::Protobuf
    }

    /// Returns a copy with a later time for computing ages.
    pub(super) fn at(self, now: Timestamp) -> Self {
        Self { now, ..self }
    }

    /// Encodes one object. `with_columns` is `false` for the events of a watch after the first.
    pub(super) fn object(self, kind: &Kind, json: &Bytes, with_columns: bool) -> Bytes {
        match self.form {
            Form::Whole if !self.without_managed_fields => json.clone(),
            Form::Whole => Bytes::from(self.decode(json).to_string()),
            Form::Protobuf => {
                let object = self.decode(json);
                protobuf::envelope(&kind.api_version(), &kind.name, object.as_object().unwrap_or(&Map::new())).into()
            }
            Form::Metadata => Bytes::from(partial(&self.decode(json)).to_string()),
            Form::Table => {
                let object = self.decode(json);
                let printer = Printer::of(kind);
                let table = Table {
                    kind: "Table",
                    api_version: META,
                    metadata: json!({"resourceVersion": object["metadata"]["resourceVersion"]}),
                    column_definitions: with_columns.then_some(printer.columns.as_slice()),
                    rows: vec![self.row(&printer, object)],
                };
                Bytes::from(serde_json::to_vec(&table).unwrap_or_default())
            }
        }
    }

    /// Encodes a `Status` that is given as JSON.
    pub(super) fn status(self, json: Vec<u8>) -> Vec<u8> {
        if self.is_protobuf() { protobuf::status(&json) } else { json }
    }

    /// Encodes an object as an item of a protobuf list.
    pub(super) fn protobuf_item(self, kind: &Kind, object: &Stored) -> Vec<u8> {
        let object = self.decode(&object.json);
        protobuf::list_item(&kind.api_version(), &kind.name, object.as_object().unwrap_or(&Map::new()))
    }

    /// Returns the JSON of a list up to its first item.
    pub(super) fn list_head(self, kind: &Kind, meta: &impl Serialize) -> String {
        let meta = serde_json::to_string(meta).unwrap_or_default();
        match self.form {
            // Protobuf lists are length-prefixed and are encoded in `list::in_protobuf`.
            Form::Whole | Form::Protobuf => {
                format!(
                    r#"{{"kind":"{}List","apiVersion":"{}","metadata":{meta},"items":["#,
                    kind.name,
                    kind.api_version()
                )
            }
            Form::Metadata => {
                format!(r#"{{"kind":"PartialObjectMetadataList","apiVersion":"{META}","metadata":{meta},"items":["#)
            }
            Form::Table => {
                let columns = serde_json::to_string(&Printer::of(kind).columns).unwrap_or_default();
                format!(
                    r#"{{"kind":"Table","apiVersion":"{META}","metadata":{meta},"columnDefinitions":{columns},"rows":["#
                )
            }
        }
    }

    /// Appends a list item without its opening brace, which the caller writes together with the separator.
    pub(super) fn put_item(self, printer: &Printer, object: &Stored, buffer: &mut BytesMut) {
        let item = match self.form {
            Form::Whole if !self.without_managed_fields => return buffer.put_slice(object.untyped_json()),
            Form::Whole | Form::Protobuf => {
                let mut item = self.decode(&object.json);
                if let Value::Object(item) = &mut item {
                    item.remove("kind");
                    item.remove("apiVersion");
                }
                item
            }
            Form::Metadata => partial(&self.decode(&object.json)),
            Form::Table => self.row(printer, self.decode(&object.json)),
        };
        buffer.put_slice(&item.to_string().as_bytes()[1..]);
    }

    /// Decodes stored JSON. It was encoded by this server, so decoding cannot fail.
    fn decode(self, json: &Bytes) -> Value {
        let mut object: Value = serde_json::from_slice(json).unwrap_or_default();
        if self.without_managed_fields
            && let Some(Value::Object(metadata)) = object.get_mut("metadata")
        {
            metadata.remove("managedFields");
        }
        object
    }

    fn row(self, printer: &Printer, object: Value) -> Value {
        let cells = printer.cells(&object, self.now);
        let object = match self.include {
            IncludeObject::Nothing => Value::Null,
            IncludeObject::Metadata => partial(&object),
            IncludeObject::Whole => object,
        };
        json!({"cells": cells, "object": object})
    }
}

fn partial(object: &Value) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": object["metadata"]})
}
