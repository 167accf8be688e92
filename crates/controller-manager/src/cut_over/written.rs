//! The objects that the controllers write, as far as a review reads them.

use kube_controller_client::PlannedWrite;
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectKey, ObjectMeta, TargetRef};
use serde::Serialize;
use serde_json::{Value, json};

/// An object that the controllers write: an EndpointSlice or Endpoints.
pub(super) trait WrittenObject: Serialize {
    const KIND: &'static str;

    fn metadata(&self) -> &ObjectMeta;

    /// Returns the number of endpoints.
    fn endpoints(&self) -> usize;

    /// Returns the objects behind the endpoints.
    fn targets(&self) -> Vec<&TargetRef>;

    /// Returns whether this object differs from `desired` at most in what a Node can change: zones and hints.
    fn differs_by_nodes_only(&self, desired: &Self) -> bool;
}

impl WrittenObject for EndpointSlice {
    const KIND: &'static str = "EndpointSlice";

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn endpoints(&self) -> usize {
        self.endpoints.len()
    }

    fn targets(&self) -> Vec<&TargetRef> {
        self.endpoints.iter().filter_map(|endpoint| endpoint.target_ref.as_ref()).collect()
    }

    fn differs_by_nodes_only(&self, desired: &Self) -> bool {
        let endpoints = self.endpoints.iter().zip(&desired.endpoints);
        self.metadata.labels == desired.metadata.labels
            && self.ports == desired.ports
            && self.endpoints.len() == desired.endpoints.len()
            && endpoints.into_iter().all(|(old, new)| {
                let moved =
                    kube_endpoint_model::Endpoint { zone: new.zone.clone(), hints: new.hints.clone(), ..old.clone() };
                moved == *new
            })
    }
}

impl WrittenObject for Endpoints {
    const KIND: &'static str = "Endpoints";

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn endpoints(&self) -> usize {
        self.subsets.iter().map(|it| it.addresses.len() + it.not_ready_addresses.len()).sum()
    }

    fn targets(&self) -> Vec<&TargetRef> {
        let addresses = self.subsets.iter().flat_map(|it| it.addresses.iter().chain(&it.not_ready_addresses));
        addresses.filter_map(|address| address.target_ref.as_ref()).collect()
    }

    fn differs_by_nodes_only(&self, _: &Self) -> bool {
        false
    }
}

/// Returns the stored object that a write replaces or deletes; `None` for a create.
pub(super) fn replaced<'a, T>(write: &PlannedWrite<'a, T>) -> Option<&'a T> {
    match write {
        PlannedWrite::Create(_) => None,
        PlannedWrite::Update { stored, .. } | PlannedWrite::Delete(stored) => Some(*stored),
    }
}

/// Describes a write on one line: the object, and the first field that differs.
pub(super) fn describe<T: WrittenObject>(key: &ObjectKey, write: &PlannedWrite<'_, T>) -> String {
    let kind = T::KIND;
    let named = |it: &T| ObjectKey::new(key.namespace.clone(), it.metadata().name.clone());
    match write {
        PlannedWrite::Create(object) => format!("create {kind} of {key} with {} endpoints", object.endpoints()),
        PlannedWrite::Delete(object) => {
            format!("delete {kind} {} with {} endpoints", named(object), object.endpoints())
        }
        PlannedWrite::Update { stored, desired } => {
            let json = |it: &T| serde_json::to_value(it).unwrap_or_default();
            let (mut old, mut new) = (json(stored), json(desired));
            let metadata = [&mut old, &mut new].map(|it| it.as_object_mut().and_then(|it| it.remove("metadata")));
            // The endpoints first: an annotation changes with most writes.
            let difference = first_difference(&old, &new).or_else(|| {
                let [old, new] = metadata.map(|it| json!({"metadata": it}));
                first_difference(&old, &new)
            });
            format!("update {kind} {}: {}", named(stored), difference.unwrap_or_else(|| "no difference".to_owned()))
        }
    }
}

/// Returns path, old and new value of the first field that differs; `None` if there is none. Lists of different lengths
/// differ in their length.
fn first_difference(old: &Value, new: &Value) -> Option<String> {
    let below = |name: &str, old: &Value, new: &Value| {
        let difference = first_difference(old, new)?;
        // The end of a path is followed by a colon, a longer path by a dot.
        let dot = if difference.starts_with(':') { "" } else { "." };
        Some(format!("{name}{dot}{difference}"))
    };
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            let value = |of: &'_ serde_json::Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
            let added = after.keys().filter(|name| !before.contains_key(*name));
            let mut names = before.keys().chain(added);
            names.find_map(|name| below(name, &value(before, name), &value(after, name)))
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let mut pairs = before.iter().zip(after).enumerate();
            pairs.find_map(|(at, (old, new))| below(&at.to_string(), old, new))
        }
        (Value::Array(before), Value::Array(after)) => Some(format!(": {} items -> {}", before.len(), after.len())),
        _ => (old != new).then(|| format!(": {old} -> {new}")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::equal(json!({"a": 1}), json!({"a": 1}), None)]
    #[case::value(json!({"a": 1}), json!({"a": 2}), Some("a: 1 -> 2"))]
    #[case::nested(json!({"a": [{"b": true}]}), json!({"a": [{"b": false}]}), Some("a.0.b: true -> false"))]
    #[case::length(json!({"a": [1]}), json!({"a": []}), Some("a: 1 items -> 0"))]
    #[case::removed(json!({"a": 1, "b": 2}), json!({"a": 1}), Some("b: 2 -> null"))]
    #[case::added(json!({"a": 1}), json!({"a": 1, "b": {"c": 2}}), Some("b: null -> {\"c\":2}"))]
    fn first_difference_has_path_and_values(#[case] old: Value, #[case] new: Value, #[case] expected: Option<&str>) {
        assert_eq!(first_difference(&old, &new).as_deref(), expected);
    }

    fn slice(value: Value) -> EndpointSlice {
        serde_json::from_value(value).expect("a slice")
    }

    #[rstest]
    #[case::zone(json!({"zone": "b"}), true)]
    #[case::hints(json!({"zone": "a", "hints": {"forZones": [{"name": "b"}]}}), true)]
    #[case::condition(json!({"zone": "a", "conditions": {"ready": false}}), false)]
    #[case::address(json!({"zone": "a", "addresses": ["10.1.0.9"]}), false)]
    fn nodes_change_zones_and_hints_only(#[case] change: Value, #[case] expected: bool) {
        let mut endpoint = json!({"addresses": ["10.1.0.1"], "conditions": {"ready": true}, "zone": "a"});
        let of = |endpoint: &Value| slice(json!({"addressType": "IPv4", "endpoints": [endpoint], "ports": []}));
        let old = of(&endpoint);
        endpoint.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        assert_eq!(old.differs_by_nodes_only(&of(&endpoint)), expected);
    }

    #[test]
    fn writes_are_described_on_one_line() {
        let object = |labels: Value| {
            let target = json!({"kind": "Pod", "namespace": "shop", "name": "web-0", "uid": "1"});
            slice(json!({
                "metadata": {"namespace": "shop", "name": "web-abc", "labels": labels}, "addressType": "IPv4",
                "endpoints": [{"addresses": ["10.1.0.1"], "targetRef": target}],
            }))
        };
        let (stored, desired) = (object(json!({"app": "x"})), object(json!({"app": "web"})));
        let key = ObjectKey::new("shop", "web");
        let described = [
            PlannedWrite::Create(&desired),
            PlannedWrite::Update { stored: &stored, desired: &desired },
            PlannedWrite::Delete(&stored),
        ];
        let described = described.map(|write| describe(&key, &write));
        assert_eq!(
            described,
            [
                "create EndpointSlice of shop/web with 1 endpoints",
                "update EndpointSlice shop/web-abc: metadata.labels.app: \"x\" -> \"web\"",
                "delete EndpointSlice shop/web-abc with 1 endpoints",
            ]
        );
    }
}
