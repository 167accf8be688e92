//! Objects to create.

use serde::Deserialize;
use serde_json::Value;

use crate::Kind;

/// Object in a recording: of a known kind, with a name and without a namespace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Manifest {
    /// Kind of the object.
    pub kind: Kind,
    /// Name of the object.
    pub name: String,
    /// Body of the create request.
    pub body: Value,
    /// Status that a second request must set, for kinds whose status is ignored in a create.
    pub status: Option<Value>,
}

impl TryFrom<Value> for Manifest {
    type Error = String;

    fn try_from(mut body: Value) -> Result<Self, String> {
        let kind = body.get("kind").cloned().ok_or("an object without a kind")?;
        let kind = Kind::deserialize(kind).map_err(|error| error.to_string())?;
        let name = body.pointer("/metadata/name").and_then(Value::as_str);
        let name = name.ok_or_else(|| format!("a {kind:?} without a name"))?.to_owned();
        let status = match &mut body {
            Value::Object(fields) if kind.has_status_of_its_own() => fields.remove("status"),
            _ => None,
        };
        Ok(Self { kind, name, body, status })
    }
}
