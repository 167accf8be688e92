//! The [`Call`] that an error refers to.

use std::fmt;

/// Verb, resource, namespace and name of a request.
///
/// Formatted for messages: `update endpointslices.discovery.k8s.io shop/web-x7k2p`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    verb: &'static str,
    resource: String,
    namespace: String,
    name: String,
    /// Whether an earlier attempt of this write was answered with a status of 500 or above, so that the server may have
    /// applied it.
    pub(crate) is_repeated: bool,
}

impl Call {
    /// A call on `resource`, which may be a URL path. Namespace and name may be empty.
    pub(crate) fn new(verb: &'static str, resource: impl fmt::Display, namespace: &str, name: &str) -> Self {
        let (resource, namespace, name) = (resource.to_string(), namespace.to_owned(), name.to_owned());
        Self { verb, resource, namespace, name, is_repeated: false }
    }

    /// Returns the resource with its group, or the path for calls of a path.
    pub(crate) fn resource(&self) -> &str {
        &self.resource
    }

    /// Returns the end of a message that the request was not sent.
    pub(crate) fn earlier_attempt(&self) -> &'static str {
        if self.is_repeated { "; an earlier attempt may have been applied" } else { "" }
    }

    /// Returns the verb as used in RBAC rules, such as `get` or `update`.
    pub fn verb(&self) -> &'static str {
        self.verb
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => Ok(()),
            ("", name) => write!(f, " {name}"),
            (namespace, "") => write!(f, " in namespace {namespace}"),
            (namespace, name) => write!(f, " {namespace}/{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "", "list pods")]
    #[case("shop", "", "list pods in namespace shop")]
    #[case("shop", "web", "list pods shop/web")]
    #[case("", "node-1", "list pods node-1")]
    fn display_omits_empty_parts(#[case] namespace: &str, #[case] name: &str, #[case] expect: &str) {
        assert_eq!(Call::new("list", "pods", namespace, name).to_string(), expect);
    }
}
