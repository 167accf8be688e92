//! An object to create.

use serde::Deserialize;
use serde_json::Value;

use crate::Kind;

/// An object as a recording gives it: of a known kind, with a name, without a namespace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Manifest {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// What to send to create it.
    pub body: Value,
    /// The status to set afterwards, for kinds where that takes a second request.
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
