//! Which objects a controller owns.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use kube_wire::ObjectKey;

pub(super) fn controller_of(object: &ObjectMeta) -> Option<&OwnerReference> {
    object.owner_references.iter().flatten().find(|reference| reference.controller == Some(true))
}

/// Returns the key of the controller of an object if it is of this kind.
pub(super) fn owner_of(object: &ObjectMeta, kind: &str) -> Option<ObjectKey> {
    let owner = controller_of(object).filter(|owner| owner.kind == kind)?;
    Some(ObjectKey::new(object.namespace.as_deref().unwrap_or_default(), owner.name.as_str()))
}

/// Returns whether an owner controls an object that has the labels of its selector. One whose labels are changed counts no longer,
/// so that it is replaced.
pub(super) fn is_owned(owner: &ObjectMeta, selector: &LabelSelector, object: &ObjectMeta) -> bool {
    let label = |key: &String| object.labels.as_ref().and_then(|labels| labels.get(key));
    controller_of(object).is_some_and(|controller| Some(&controller.uid) == owner.uid.as_ref())
        && selector.match_labels.iter().flatten().all(|(key, value)| label(key) == Some(value))
}

pub(super) fn reference_to(kind: &str, owner: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: "apps/v1".to_owned(),
        kind: kind.to_owned(),
        name: owner.name.clone().unwrap_or_default(),
        uid: owner.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::owned("u1", "web", true)]
    #[case::of_another_owner("u2", "web", false)]
    #[case::with_another_label("u1", "aside", false)]
    fn owned_objects_have_the_reference_and_the_labels(#[case] uid: &str, #[case] app: &str, #[case] expect: bool) {
        let owner = ObjectMeta { name: Some("set".to_owned()), uid: Some("u1".to_owned()), ..ObjectMeta::default() };
        let controller = ObjectMeta { uid: Some(uid.to_owned()), ..owner.clone() };
        let object = ObjectMeta {
            owner_references: Some(vec![reference_to("ReplicaSet", &controller)]),
            labels: Some([("app".to_owned(), app.to_owned())].into()),
            ..ObjectMeta::default()
        };
        let selector = serde_json::from_value(json!({"matchLabels": {"app": "web"}})).unwrap();
        assert_eq!(is_owned(&owner, &selector, &object), expect);
    }
}
