//! Manifests: objects in files, YAML or JSON.
//!
//! Reading is apart from parsing, so that all that can be wrong with a text is decided without a file system.

mod error;
mod parse;
mod read;
mod split;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value};

pub(crate) use error::{ManifestError, Origin};
pub(crate) use parse::{Syntax, objects};
pub(crate) use read::read;

/// One object of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    /// Where it stands, for messages.
    pub(crate) origin: Origin,
    /// Group and version.
    pub(crate) api_version: String,
    /// Kind, as written.
    pub(crate) kind: String,
    /// Namespace, where given.
    pub(crate) namespace: Option<String>,
    /// Name; `None` where the server is to generate one.
    pub(crate) name: Option<String>,
    /// The whole object.
    pub(crate) fields: Map<String, Value>,
}

/// `Service shop/web`, as a reader would look for it.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("(generated name)");
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{name}", self.kind),
            None => write!(f, "{} {name}", self.kind),
        }
    }
}
