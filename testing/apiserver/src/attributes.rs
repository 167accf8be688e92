//! Attributes of a request, shared by authorization and the request log.

/// Attributes of a request, like upstream's `authorizer.Attributes`. Strings that do not apply are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; the HTTP method in lower
    /// case if the path names no resource.
    pub(crate) verb: String,
    pub(crate) group: String,
    /// Plural resource name; empty if the path names no resource.
    pub(crate) resource: String,
    pub(crate) subresource: String,
    /// Namespace of the path. For a Namespace it is the name of the object, as in upstream's `RequestInfo`.
    pub(crate) namespace: String,
    /// Name in the path, or in a field selector on `metadata.name`.
    pub(crate) name: String,
    /// URL path without the query.
    pub(crate) path: String,
}

impl Attributes {
    /// Returns whether the path names a resource.
    pub(crate) fn is_resource(&self) -> bool {
        !self.resource.is_empty()
    }

    /// Returns the resource with its subresource, if any: `pods` or `pods/status`.
    pub(crate) fn full_resource(&self) -> String {
        full_resource(&self.resource, &self.subresource)
    }
}

/// Returns a resource with its subresource; without one if that is empty.
pub(crate) fn full_resource(resource: &str, subresource: &str) -> String {
    if subresource.is_empty() { resource.to_owned() } else { format!("{resource}/{subresource}") }
}
