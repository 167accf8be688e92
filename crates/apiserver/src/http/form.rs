//! Objects, lists and events in the form that a client has asked for.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::HeaderMap;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::accept::{self, Form};
use crate::cluster::Stored;
use crate::kinds::Kind;
use crate::protobuf;
use crate::table::{Column, Printer};

const META: &str = "meta.k8s.io/v1";

/// How much of its object a row of a table carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum IncludeObject {
    Nothing,
    #[default]
    Metadata,
    Whole,
}

/// How answers are to look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    form: Form,
    include: IncludeObject,
    /// Ages are counted up to here.
    now: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Table<'a, M> {
    kind: &'static str,
    api_version: &'static str,
    metadata: M,
    /// Null in the events of a watch that are not its first.
    column_definitions: Option<&'a [Column]>,
    rows: Vec<Value>,
}

impl Look {
    pub(super) fn new(headers: &HeaderMap, include: IncludeObject, now: Timestamp) -> Self {
        Self { form: accept::form(headers), include, now }
    }

    /// The same, in protobuf where a client prefers that and the kind has it.
    pub(super) fn of_kind(self, kind: &Kind, headers: &HeaderMap) -> Self {
        let form = if accept::prefers_protobuf(headers) && protobuf::speaks(&kind.api_version(), &kind.name) {
            Form::Protobuf
        } else {
            self.form
        };
        Self { form, ..self }
    }

    pub(super) fn is_protobuf(self) -> bool {
        self.form == Form::Protobuf
    }

    /// The same at a later time.
    pub(super) fn at(self, now: Timestamp) -> Self {
        Self { now, ..self }
    }

    /// One object. The columns of a table are left out where they have been told.
    pub(super) fn object(self, kind: &Kind, json: &Bytes, with_columns: bool) -> Bytes {
        match self.form {
            Form::Whole if !kind.is_view() => json.clone(),
            Form::Whole => Bytes::from(decode(kind, json).to_string()),
            Form::Protobuf => {
                let object = decode(kind, json);
                protobuf::envelope(&kind.api_version(), &kind.name, object.as_object().unwrap_or(&Map::new())).into()
            }
            Form::Metadata => Bytes::from(partial(&decode(kind, json)).to_string()),
            Form::Table => {
                let object = decode(kind, json);
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

    /// A `Status`, from its JSON.
    pub(super) fn status(self, json: Vec<u8>) -> Vec<u8> {
        if self.is_protobuf() { protobuf::status(&json) } else { json }
    }

    /// An item of a list in protobuf.
    pub(super) fn protobuf_item(kind: &Kind, object: &Stored) -> Vec<u8> {
        let object = decode(kind, &object.json);
        protobuf::list_item(&kind.api_version(), &kind.name, object.as_object().unwrap_or(&Map::new()))
    }

    /// What stands in front of the items of a list.
    pub(super) fn list_head(self, kind: &Kind, meta: &impl Serialize) -> String {
        let meta = serde_json::to_string(meta).unwrap_or_default();
        match self.form {
            // A list in protobuf has its length in front and is made elsewhere.
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

    /// Writes an item of a list without its opening brace.
    pub(super) fn put_item(self, kind: &Kind, printer: &Printer<'_>, object: &Stored, buffer: &mut BytesMut) {
        let item = match self.form {
            Form::Whole if !kind.is_view() => return buffer.put_slice(object.untyped_json()),
            Form::Whole | Form::Protobuf => {
                let mut item = decode(kind, &object.json);
                if let Value::Object(item) = &mut item {
                    item.remove("kind");
                    item.remove("apiVersion");
                }
                item
            }
            Form::Metadata => partial(&decode(kind, &object.json)),
            Form::Table => self.row(printer, decode(kind, &object.json)),
        };
        buffer.put_slice(&item.to_string().as_bytes()[1..]);
    }

    fn row(self, printer: &Printer<'_>, object: Value) -> Value {
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

/// What the server has encoded itself decodes.
fn decode(kind: &Kind, json: &Bytes) -> Value {
    let mut object = serde_json::from_slice(json).unwrap_or_default();
    kind.present(&mut object);
    object
}
