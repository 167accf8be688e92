//! What a request asks, in the words that faults, the request log and authorization share.

/// A request taken apart. Texts that do not apply are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; of a path that names no
    /// resource, the HTTP method in lower case.
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) version: String,
    /// The plural; empty when the path names no resource.
    pub(crate) resource: String,
    pub(crate) subresource: String,
    /// As a real server has it, also of a Namespace the name of that.
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The path without its parameters.
    pub(crate) path: String,
}

impl Attributes {
    /// Whether the path names a resource.
    pub(crate) fn is_resource(&self) -> bool {
        !self.resource.is_empty()
    }

    /// `pods` or `pods/status`.
    pub(crate) fn full_resource(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}
