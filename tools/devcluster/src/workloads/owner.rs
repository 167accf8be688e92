//! Which objects a controller owns: controller references and label selectors.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference,
};

/// Relation of an object to a possible owner (Go: `BaseControllerRefManager.ClaimObject`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// The owner controls the object.
    Owned,
    /// The object has no controller, and the selector of the owner matches it: the owner takes it over.
    Adopt,
    /// The owner controls the object, and its selector does not match any longer: the owner lets go of it.
    Release,
    /// Another owner controls the object, or it is not selected.
    Foreign,
}

/// Returns the reference to the controller of an object.
pub(super) fn controller_of(object: &ObjectMeta) -> Option<&OwnerReference> {
    object.owner_references.iter().flatten().find(|reference| reference.controller == Some(true))
}

/// Returns the relation of an object to an owner with this metadata and selector.
pub(super) fn claim(owner: &ObjectMeta, selector: &LabelSelector, object: &ObjectMeta) -> Claim {
    let owner_is_deleted = owner.deletion_timestamp.is_some();
    let selects = matches(selector, object.labels.as_ref());
    match controller_of(object) {
        Some(reference) if Some(&reference.uid) != owner.uid.as_ref() => Claim::Foreign,
        Some(_) if selects => Claim::Owned,
        Some(_) if owner_is_deleted => Claim::Foreign,
        Some(_) => Claim::Release,
        None if selects && !owner_is_deleted && object.deletion_timestamp.is_none() => Claim::Adopt,
        None => Claim::Foreign,
    }
}

/// Returns whether a selector matches labels. An empty selector matches nothing: the server accepts none.
pub(super) fn matches(selector: &LabelSelector, labels: Option<&BTreeMap<String, String>>) -> bool {
    let value = |key: &String| labels.and_then(|labels| labels.get(key));
    let equal = selector.match_labels.iter().flatten();
    let expressions = selector.match_expressions.iter().flatten();
    let is_empty = equal.clone().next().is_none() && expressions.clone().next().is_none();
    let mut expressions = expressions.map(|LabelSelectorRequirement { key, operator, values }| {
        let is_listed = |value: &String| values.iter().flatten().any(|listed| listed == value);
        match operator.as_str() {
            "In" => value(key).is_some_and(is_listed),
            "NotIn" => !value(key).is_some_and(is_listed),
            "Exists" => value(key).is_some(),
            "DoesNotExist" => value(key).is_none(),
            _ => false,
        }
    });
    let mut equal = equal.map(|(key, expected)| value(key) == Some(expected));
    !is_empty && equal.all(|it| it) && expressions.all(|it| it)
}

/// Returns the controller reference to an owner.
pub(super) fn reference_to(api_version: &str, kind: &str, owner: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: owner.name.clone().unwrap_or_default(),
        uid: owner.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// Returns the owner references of an object after it is adopted or released.
pub(super) fn references_after(claim: Claim, owner: &OwnerReference, object: &ObjectMeta) -> Vec<OwnerReference> {
    let others = object.owner_references.iter().flatten().filter(|reference| reference.uid != owner.uid).cloned();
    others.chain((claim == Claim::Adopt).then(|| owner.clone())).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn selector(selector: Value) -> LabelSelector {
        serde_json::from_value(selector).unwrap()
    }

    #[rstest]
    #[case::equal(json!({"matchLabels": {"app": "web"}}), true)]
    #[case::other_value(json!({"matchLabels": {"app": "api"}}), false)]
    #[case::one_of_two(json!({"matchLabels": {"app": "web", "tier": "db"}}), false)]
    #[case::listed(json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "web"]}]}), true)]
    #[case::not_listed(json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}), false)]
    #[case::absent_is_not_listed(json!({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["x"]}]}), true)]
    #[case::exists(json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}), true)]
    #[case::does_not_exist(json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), false)]
    #[case::unknown(json!({"matchExpressions": [{"key": "app", "operator": "Like"}]}), false)]
    #[case::empty(json!({}), false)]
    fn selectors(#[case] text: Value, #[case] expect: bool) {
        let labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
        assert_eq!(matches(&selector(text), Some(&labels)), expect);
    }

    #[rstest]
    #[case::owned("web", Some("u1"), false, false, Claim::Owned)]
    #[case::released("other", Some("u1"), false, false, Claim::Release)]
    #[case::not_released_by_a_deleted_owner("other", Some("u1"), true, false, Claim::Foreign)]
    #[case::of_somebody_else("web", Some("u2"), false, false, Claim::Foreign)]
    #[case::orphan("web", None, false, false, Claim::Adopt)]
    #[case::orphan_that_is_deleted("web", None, false, true, Claim::Foreign)]
    #[case::orphan_and_deleted_owner("web", None, true, false, Claim::Foreign)]
    #[case::other_orphan("other", None, false, false, Claim::Foreign)]
    fn claims(
        #[case] app: &str,
        #[case] controller: Option<&str>,
        #[case] owner_is_deleted: bool,
        #[case] object_is_deleted: bool,
        #[case] expect: Claim,
    ) {
        let meta = |mut meta: Value, is_deleted: bool| -> ObjectMeta {
            if is_deleted {
                meta["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            serde_json::from_value(meta).unwrap()
        };
        let owner = meta(json!({"name": "set", "uid": "u1"}), owner_is_deleted);
        let reference = controller.map(|uid| {
            json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": uid,
                                                    "controller": true})
        });
        let object = json!({"labels": {"app": app}, "ownerReferences": reference.into_iter().collect::<Vec<_>>()});
        let selector = selector(json!({"matchLabels": {"app": "web"}}));
        assert_eq!(claim(&owner, &selector, &meta(object, object_is_deleted)), expect);
    }

    #[test]
    fn adopted_and_released_objects_keep_their_other_owners() {
        let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u2"});
        let object: ObjectMeta = serde_json::from_value(json!({"ownerReferences": [other]})).unwrap();
        let owner = ObjectMeta { name: Some("set".to_owned()), uid: Some("u1".to_owned()), ..ObjectMeta::default() };
        let owner = reference_to("apps/v1", "ReplicaSet", &owner);
        let uids =
            |references: &[OwnerReference]| -> Vec<String> { references.iter().map(|it| it.uid.clone()).collect() };
        let adopted = references_after(Claim::Adopt, &owner, &object);
        assert_eq!(uids(&adopted), ["u2", "u1"]);
        let adopted = ObjectMeta { owner_references: Some(adopted), ..object };
        assert_eq!(uids(&references_after(Claim::Release, &owner, &adopted)), ["u2"]);
    }
}
