//! Keys of objects in caches and work queues.

use std::{fmt, str::FromStr};

use crate::Text;

/// Namespace and name of an object, the key of caches and work queues (client-go: `cache.ObjectName`). 16 bytes.
///
/// Its text is `namespace/name`, or `name` for a cluster-scoped object, as in client-go's `MetaNamespaceKeyFunc`. A
/// clone increments two reference counts.
///
/// ```
/// use kube_wire::ObjectKey;
///
/// let key: ObjectKey = "shop/web".parse()?;
/// assert_eq!(key, ObjectKey::new("shop", "web"));
/// assert_eq!(ObjectKey::new("", "node-1").to_string(), "node-1");
/// # Ok::<(), kube_wire::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Namespace; empty for a cluster-scoped object.
    pub namespace: Text,
    /// Name, unique per type and namespace.
    pub name: Text,
}

impl ObjectKey {
    /// Returns the key of an object; `namespace` is empty for a cluster-scoped one.
    pub fn new(namespace: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.write_str(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error of parsing an [`ObjectKey`]: the text contains more than one `/`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unexpected key format: {text:?} is not `name` or `namespace/name`")]
pub struct KeyError {
    text: String,
}

impl FromStr for ObjectKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text.split_once('/') {
            None => Ok(Self::new("", text)),
            Some((namespace, name)) if !name.contains('/') => Ok(Self::new(namespace, name)),
            Some(_) => Err(KeyError { text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    // upstream: client-go, TestSplitMetaNamespaceKey
    #[rstest]
    #[case("name", Some(("", "name")))]
    #[case("shop/web", Some(("shop", "web")))]
    #[case("/web", Some(("", "web")))]
    #[case("shop/", Some(("shop", "")))]
    #[case("", Some(("", "")))]
    #[case("a/b/c", None)]
    fn parses(#[case] text: &str, #[case] expect: Option<(&str, &str)>) {
        assert_eq!(text.parse().ok(), expect.map(|(namespace, name)| ObjectKey::new(namespace, name)));
    }

    proptest! {
        #[test]
        fn display_round_trips(namespace in "[a-z0-9-]{0,12}", name in "[a-z0-9.-]{1,20}") {
            let key = ObjectKey::new(namespace, name);
            prop_assert_eq!(key.to_string().parse::<ObjectKey>(), Ok(key));
        }
    }
}
