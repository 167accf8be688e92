//! References from endpoints to their objects.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::json;
use crate::{ResourceVersion, Text, Uid};

/// A reference to an object, usually the Pod behind an endpoint. Absent fields are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// API version of the object.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub api_version: Text,
    /// Path of a part of the object.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub field_path: Text,
    /// Kind of the object.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub kind: Text,
    /// Name of the object.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub name: Text,
    /// Namespace of the object.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub namespace: Text,
    /// Resource version of the object; ignored when endpoints are compared.
    #[serde(deserialize_with = "json::from_str", skip_serializing_if = "ResourceVersion::is_empty")]
    pub resource_version: ResourceVersion,
    /// UID of the object.
    #[serde(deserialize_with = "json::from_str", skip_serializing_if = "Uid::is_empty")]
    pub uid: Uid,
}

/// Object behind an endpoint: an [`ObjectReference`] in less than half the memory, since there are two per Pod.
///
/// Nearly all references contain only the namespace, name and UID of a Pod; they need no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(from = "ObjectReference", into = "ObjectReference")]
pub struct TargetRef {
    namespace: Text,
    name: Text,
    uid: Uid,
    /// `None` for a Pod without further fields.
    extra: Option<Arc<ExtraFields>>,
}

const _: () = assert!(size_of::<Option<TargetRef>>() == 40);

/// Fields that few references have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ExtraFields {
    api_version: Text,
    field_path: Text,
    kind: Text,
    resource_version: ResourceVersion,
}

const POD: &str = "Pod";
static POD_TEXT: LazyLock<Text> = LazyLock::new(|| Text::from(POD));

impl TargetRef {
    /// Returns a reference to a Pod as the controllers write it (EP-9), without API version and resource version.
    pub fn pod(namespace: Text, name: Text, uid: Uid) -> TargetRef {
        TargetRef { namespace, name, uid, extra: None }
    }

    /// Returns the namespace; may be empty.
    pub fn namespace(&self) -> &Text {
        &self.namespace
    }

    /// Returns the name; may be empty.
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// Returns the UID; may be empty.
    pub fn uid(&self) -> &Uid {
        &self.uid
    }

    /// Returns the kind; may be empty.
    pub fn kind(&self) -> &str {
        self.extra.as_ref().map_or(POD, |extra| &extra.kind)
    }

    /// Returns whether the kind is `Pod` and API version and field path are empty.
    pub fn is_of_pod(&self) -> bool {
        self.extra.as_ref().is_none_or(|extra| {
            let ExtraFields { api_version, field_path, kind, resource_version: _ } = &**extra;
            *kind == POD && api_version.is_empty() && field_path.is_empty()
        })
    }

    /// Returns whether both references are equal apart from the resource version.
    pub fn same_object(&self, other: &TargetRef) -> bool {
        let same_extra = match (&self.extra, &other.extra) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                let ExtraFields { api_version, field_path, kind, resource_version: _ } = &**a;
                *api_version == b.api_version && *field_path == b.field_path && *kind == b.kind
            }
            (None, Some(_)) => other.is_of_pod(),
            (Some(_), None) => self.is_of_pod(),
        };
        same_extra && self.uid == other.uid && self.name == other.name && self.namespace == other.namespace
    }
}

impl From<ObjectReference> for TargetRef {
    fn from(it: ObjectReference) -> Self {
        let ObjectReference { api_version, field_path, kind, name, namespace, resource_version, uid } = it;
        let plain = kind == POD && api_version.is_empty() && field_path.is_empty() && resource_version.is_empty();
        let extra = (!plain).then(|| Arc::new(ExtraFields { api_version, field_path, kind, resource_version }));
        TargetRef { namespace, name, uid, extra }
    }
}

impl From<TargetRef> for ObjectReference {
    fn from(it: TargetRef) -> Self {
        let TargetRef { namespace, name, uid, extra } = it;
        let reference = ObjectReference { name, namespace, uid, ..ObjectReference::default() };
        match extra.map(Arc::unwrap_or_clone) {
            None => ObjectReference { kind: POD_TEXT.clone(), ..reference },
            Some(ExtraFields { api_version, field_path, kind, resource_version }) => {
                ObjectReference { api_version, field_path, kind, resource_version, ..reference }
            }
        }
    }
}

impl From<&TargetRef> for ObjectReference {
    fn from(it: &TargetRef) -> Self {
        it.clone().into()
    }
}

/// Returns whether both are absent, or both refer to the same object, ignoring the resource version.
pub fn same_target(a: Option<&TargetRef>, b: Option<&TargetRef>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_object(b),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn pod(edit: impl FnOnce(&mut ObjectReference)) -> TargetRef {
        let mut reference = ObjectReference {
            kind: POD.into(),
            namespace: "ns".into(),
            name: "p".into(),
            uid: "u".into(),
            ..ObjectReference::default()
        };
        edit(&mut reference);
        let target = TargetRef::from(reference.clone());
        assert_eq!(ObjectReference::from(&target), reference, "nothing is lost");
        target
    }

    #[rstest]
    #[case::same(pod(|_| {}), true)]
    #[case::version(pod(|it| it.resource_version = 7.into()), true)]
    #[case::name(pod(|it| it.name = "q".into()), false)]
    #[case::namespace(pod(|it| it.namespace = "other".into()), false)]
    #[case::uid(pod(|it| it.uid = "v".into()), false)]
    #[case::kind(pod(|it| it.kind = "Node".into()), false)]
    #[case::no_kind(pod(|it| it.kind = "".into()), false)]
    #[case::api_version(pod(|it| it.api_version = "v1".into()), false)]
    #[case::part(pod(|it| it.field_path = "spec".into()), false)]
    fn same_object(#[case] other: TargetRef, #[case] expected: bool) {
        let plain = pod(|_| {});
        assert_eq!((plain.same_object(&other), other.same_object(&plain)), (expected, expected));
        assert_eq!(other.kind(), &*ObjectReference::from(&other).kind);
    }

    #[test]
    fn reference_to_a_pod_does_not_allocate() {
        assert!(pod(|_| {}).extra.is_none());
        assert_eq!(TargetRef::pod("ns".into(), "p".into(), "u".into()), pod(|_| {}));
    }
}
