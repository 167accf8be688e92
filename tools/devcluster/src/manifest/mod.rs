//! Manifests: YAML or JSON files with Kubernetes objects.
//!
//! Parsing is separate from file access, so that it can be tested without a file system.

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

/// Object of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    /// Position in the manifest, for messages.
    pub(crate) origin: Origin,
    /// `apiVersion`.
    pub(crate) api_version: String,
    /// `kind`.
    pub(crate) kind: String,
    /// `metadata.namespace`, if set.
    pub(crate) namespace: Option<String>,
    /// `metadata.name`; `None` for an object with `generateName`.
    pub(crate) name: Option<String>,
    /// Complete object.
    pub(crate) fields: Map<String, Value>,
}

/// Formats kind, namespace and name, such as `Service shop/web`.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("(generated name)");
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{name}", self.kind),
            None => write!(f, "{} {name}", self.kind),
        }
    }
}
