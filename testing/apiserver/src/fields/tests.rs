//! Rules and laws of field management.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::remove::with_named_parents;
use super::set::FieldSet;
use super::walk::fields_of;
use super::{Applied, Conflict, Entries, Live, ManagedFields, Operation, Writer, apply, update};
use crate::schema::Node;

fn writer(manager: &str, operation: Operation) -> Writer<'_> {
    let now = jiff::Timestamp::UNIX_EPOCH;
    Writer { manager, operation, api_version: "v1".into(), subresource: "", reset: &[], now }
}

/// An object with its entries, and the schema of its kind.
struct Managed {
    object: Value,
    entries: Entries,
    schema: Option<Node<'static>>,
}

impl Managed {
    fn new(kind: &str) -> Self {
        let schema = Node::of_type(&format!("io.k8s.api.core.v1.{kind}"));
        Self { object: json!({}), entries: Entries::default(), schema }
    }

    fn try_apply(&self, manager: &str, config: &Value, force: bool) -> Result<Applied, Vec<Conflict>> {
        let writer = writer(manager, Operation::Apply);
        let live = Live { object: &self.object, empty: &json!({}), schema: self.schema };
        apply(live, self.entries.clone(), config, &writer, force)
    }

    fn apply(&mut self, manager: &str, config: &Value) {
        self.set(self.try_apply(manager, config, false).unwrap());
    }

    fn force(&mut self, manager: &str, config: &Value) {
        self.set(self.try_apply(manager, config, true).unwrap());
    }

    fn set(&mut self, applied: Applied) {
        (self.object, self.entries) = (applied.object, applied.entries);
    }

    fn update(&mut self, manager: &str, object: Value) {
        let writer = writer(manager, Operation::Update);
        update(&mut self.entries, &self.object, &object, self.schema, &writer);
        self.object = object;
    }

    /// Returns manager, operation and fields of each entry.
    fn owners(&self) -> Vec<(String, String, Value)> {
        let encoded = self.entries.encode().unwrap_or_default();
        let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        let entries = encoded.as_array().into_iter().flatten();
        entries.map(|it| (text(it, "manager"), text(it, "operation"), it["fieldsV1"].clone())).collect()
    }

    fn fields(&self, manager: &str) -> Value {
        self.owners().into_iter().find(|it| it.0 == manager).map(|it| it.2).unwrap_or_default()
    }
}

#[test]
fn fields_of_an_applied_service() {
    let mut live = Managed::new("Service");
    live.apply(
        "one",
        &json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "web", "labels": {"a": "1"}, "finalizers": ["x/a"]},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "name": "http"}]}
        }),
    );
    assert_eq!(
        live.fields("one"),
        json!({
            "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {"v:\"x/a\"": {}}},
            "f:spec": {
                "f:selector": {},
                "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}}}
            }
        })
    );
}

#[test]
fn omitted_fields_are_removed() {
    let mut live = Managed::new("ConfigMap");
    live.apply("one", &json!({"data": {"x": "1", "y": "2"}}));
    live.update("edit", json!({"data": {"x": "1", "y": "2", "z": "3"}}));
    live.apply("one", &json!({"data": {"x": "1"}}));
    assert_eq!(live.object, json!({"data": {"x": "1", "z": "3"}}));
    live.apply("one", &json!({}));
    assert_eq!(live.object, json!({"data": {"z": "3"}}));
    assert_eq!(live.fields("one"), Value::Null, "nothing is left");
}

#[test]
fn list_items_are_removed_by_key() {
    let mut live = Managed::new("Service");
    let port = |port: u16| json!({"port": port, "protocol": "TCP"});
    live.apply("one", &json!({"spec": {"ports": [port(80), port(81)]}}));
    live.apply("two", &json!({"spec": {"ports": [port(81), port(82)]}}));
    live.apply("one", &json!({"spec": {"ports": [port(80)]}}));
    let ports: Vec<_> = live.object["spec"]["ports"].as_array().unwrap().iter().map(|it| it["port"].clone()).collect();
    assert_eq!(ports, [80, 81, 82], "81 is still owned by the other");
    live.apply("two", &json!({"spec": {"ports": [port(82)]}}));
    let ports: Vec<_> = live.object["spec"]["ports"].as_array().unwrap().iter().map(|it| it["port"].clone()).collect();
    assert_eq!(ports, [80, 82]);
}

#[rstest]
#[case::applier("two", json!({"data": {"x": "2"}}), &[("\"one\"", ".data.x")])]
#[case::several("two", json!({"data": {"x": "2", "y": "2"}}), &[("\"edit\" using v1", ".data.y"), ("\"one\"", ".data.x")])]
#[case::equal_values_are_shared("two", json!({"data": {"x": "1", "y": "1"}}), &[])]
#[case::own_values("one", json!({"data": {"x": "2"}}), &[])]
fn conflicts(#[case] manager: &str, #[case] config: Value, #[case] expect: &[(&str, &str)]) {
    let mut live = Managed::new("ConfigMap");
    live.apply("one", &json!({"data": {"x": "1"}}));
    live.update("edit", json!({"data": {"x": "1", "y": "1"}}));
    let found = live.try_apply(manager, &config, false).err().unwrap_or_default();
    let found: Vec<(&str, &str)> = found.iter().map(|it| (it.manager.as_str(), it.path.as_str())).collect();
    assert_eq!(found, expect);
    live.force(manager, &config);
    assert_eq!(live.object["data"]["x"], config["data"]["x"]);
}

#[test]
fn forced_fields_change_their_owner() {
    let mut live = Managed::new("ConfigMap");
    live.apply("one", &json!({"data": {"x": "1", "y": "1"}}));
    live.force("two", &json!({"data": {"x": "2"}}));
    assert_eq!(live.fields("one"), json!({"f:data": {"f:y": {}}}));
    assert_eq!(live.fields("two"), json!({"f:data": {"f:x": {}}}));
}

#[test]
fn conflict_in_a_list_names_the_item() {
    let mut live = Managed::new("Service");
    live.apply("one", &json!({"spec": {"ports": [{"port": 80, "targetPort": 1}]}}));
    let conflicts = live.try_apply("two", &json!({"spec": {"ports": [{"port": 80, "targetPort": 2}]}}), false);
    assert_eq!(conflicts.unwrap_err()[0].path, ".spec.ports[port=80,protocol=\"TCP\"].targetPort");
}

#[test]
fn conflicts_of_a_place_come_before_those_inside_of_it() {
    let mut live = Managed::new("Service");
    let service =
        |target: u16, kind: &str| json!({"spec": {"ports": [{"port": 80, "targetPort": target}], "type": kind}});
    live.apply("one", &service(1, "ClusterIP"));
    let conflicts = live.try_apply("two", &service(2, "NodePort"), false).unwrap_err();
    let paths: Vec<&str> = conflicts.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, [".spec.type", ".spec.ports[port=80,protocol=\"TCP\"].targetPort"]);
}

#[test]
fn object_without_entries_has_those_before_the_first_apply() {
    let mut live = Managed::new("ConfigMap");
    live.object = json!({"data": {"x": "1"}});
    let conflicts = live.try_apply("one", &json!({"data": {"x": "2"}}), false).unwrap_err();
    assert_eq!(conflicts[0].manager, "\"before-first-apply\" using v1");
    live.apply("one", &json!({"data": {"y": "2"}}));
    assert_eq!(live.object, json!({"data": {"x": "1", "y": "2"}}));
}

#[test]
fn updates_own_what_they_change() {
    let mut live = Managed::new("ConfigMap");
    live.update("create", json!({"metadata": {"name": "a", "labels": {"l": "1"}}, "data": {"x": "1", "y": "1"}}));
    live.update("edit", json!({"metadata": {"name": "a", "labels": {"l": "1"}}, "data": {"x": "2"}}));
    assert_eq!(live.fields("create"), json!({"f:metadata": {"f:labels": {".": {}, "f:l": {}}}, "f:data": {}}));
    assert_eq!(live.fields("edit"), json!({"f:data": {"f:x": {}}}));
}

#[test]
fn oldest_updates_are_combined() {
    let mut live = Managed::new("ConfigMap");
    let mut object = json!({"data": {}});
    for at in 0..12 {
        object["data"][format!("f{at:02}")] = json!("1");
        live.update(&format!("m{at:02}"), object.clone());
    }
    let managers: Vec<String> = live.owners().into_iter().map(|it| it.0).collect();
    assert_eq!(managers.len(), 10);
    assert_eq!(managers[0], "ancient-changes");
}

#[rstest]
#[case::absent(json!(null), 1)]
#[case::invalid(json!([{"manager": "x"}]), 1)]
#[case::reset_by_an_empty_list(json!([]), 0)]
#[case::reset_by_an_empty_entry(json!([{}]), 0)]
fn entries_of_the_request_replace_the_stored_ones(#[case] given: Value, #[case] count: usize) {
    let mut live = Managed::new("ConfigMap");
    live.apply("one", &json!({"data": {"x": "1"}}));
    let stored = live.entries.encode().unwrap();
    assert_eq!(ManagedFields::decode(stored.clone()).before_update(&given).0.len(), count);
    assert_eq!(ManagedFields::default().before_update(&stored), live.entries, "decoded as encoded");
}

fn data() -> impl Strategy<Value = Value> {
    let values = prop::collection::btree_map("[a-d]", "[0-2]", 0..4);
    let ports = prop::collection::btree_map(80..84_u16, 1..3_u16, 0..4);
    (values, ports).prop_map(|(annotations, ports)| {
        let ports: Vec<Value> = ports
            .into_iter()
            .map(|(port, target)| json!({"port": port, "protocol": "TCP", "targetPort": target}))
            .collect();
        let mut config = json!({"metadata": {"annotations": annotations}});
        if !ports.is_empty() {
            config["spec"] = json!({"ports": ports});
        }
        config
    })
}

/// Unlike an empty object, so that the second of two equal applies may add the list that the first one removed.
#[test]
fn quirk_empty_list_is_not_owned() {
    let mut live = Managed::new("Service");
    let config = |ports: Value| json!({"metadata": {"annotations": {}}, "spec": {"ports": ports}});
    live.apply("one", &config(json!([{"port": 80}])));
    live.apply("one", &config(json!([])));
    assert_eq!(live.object["spec"].get("ports"), None);
    assert_eq!(live.fields("one"), json!({"f:metadata": {"f:annotations": {}}}));
    live.apply("one", &config(json!([])));
    assert_eq!(live.object["spec"]["ports"], json!([]));
}

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(second).unwrap()
}

#[test]
fn time_of_an_entry_changes_with_the_object() {
    let mut live = Managed::new("ConfigMap");
    let mut apply_at = |manager: &str, second: i64, config: Value| {
        let writer = Writer { now: at(second), ..writer(manager, Operation::Apply) };
        let before = Live { object: &live.object, empty: &json!({}), schema: live.schema };
        let applied = apply(before, live.entries.clone(), &config, &writer, false).unwrap();
        live.set(applied);
        let entries = live.entries.encode().unwrap();
        let times = entries.as_array().unwrap().iter().map(|it| format!("{} {}", it["manager"], it["time"]));
        times.collect::<Vec<_>>().join(", ").replace('"', "")
    };
    let config = json!({"data": {"x": "1"}});
    assert_eq!(apply_at("one", 1, config.clone()), "one 1970-01-01T00:00:01Z");
    assert_eq!(apply_at("one", 2, config.clone()), "one 1970-01-01T00:00:01Z");
    assert_eq!(apply_at("two", 3, config), "two null, one 1970-01-01T00:00:01Z", "shares the field");
    let more = json!({"data": {"x": "1", "y": "1"}});
    assert_eq!(apply_at("two", 4, more), "one 1970-01-01T00:00:01Z, two 1970-01-01T00:00:04Z");
}

/// Fields that kubectl applied client-side, and that have not changed since, do not conflict.
#[rstest]
#[case::kubectl("kubectl", json!({"x": "2"}), &[])]
#[case::changed_by_another("kubectl", json!({"x": "2", "y": "2"}), &[("\"edit\" using v1", ".data.y")])]
#[case::another_manager("other", json!({"x": "2"}), &[("\"before\" using v1", ".data.x")])]
fn kubectl_takes_over_what_it_applied_client_side(
    #[case] manager: &str,
    #[case] data: Value,
    #[case] expect: &[(&str, &str)],
) {
    let mut live = Managed::new("ConfigMap");
    let key = "kubectl.kubernetes.io/last-applied-configuration";
    let last = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "1", "y": "1"}}).to_string();
    live.update("before", json!({"metadata": {"annotations": {key: last}}, "data": {"x": "1", "y": "1"}}));
    live.update("edit", json!({"metadata": {"annotations": {key: last}}, "data": {"x": "1", "y": "3"}}));
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a<b"}, "data": data});
    let found = live.try_apply(manager, &config, false).err().unwrap_or_default();
    let found: Vec<(&str, &str)> = found.iter().map(|it| (it.manager.as_str(), it.path.as_str())).collect();
    assert_eq!(found, expect);
    live.force(manager, &config);
    let annotation = live.object["metadata"]["annotations"][key].as_str().unwrap();
    if manager == "kubectl" {
        assert!(annotation.contains(r#""name":"a\u003cb""#) && annotation.ends_with("}\n"), "{annotation}");
    } else {
        assert_eq!(annotation, last);
    }
}

#[test]
fn requests_do_not_change_the_owners_of_fields_that_they_do_not_write() {
    let schema = Node::of_type("io.k8s.api.core.v1.Pod");
    let phase = |phase: &str| json!({"spec": {"hostname": "a"}, "status": {"phase": phase}});
    let mut entries = Entries::default();
    let kubelet = Writer { subresource: "status", reset: &[&["spec"]], ..writer("kubelet", Operation::Update) };
    update(&mut entries, &json!({}), &phase("Pending"), schema, &kubelet);
    let owner = Writer { reset: &[&["status"]], ..writer("me", Operation::Apply) };
    let object = phase("Pending");
    let live = Live { object: &object, empty: &json!({}), schema };
    let applied = apply(live, entries, &phase("Running"), &owner, false).unwrap();
    let entries = applied.entries.encode().unwrap();
    assert_eq!(entries[0]["fieldsV1"], json!({"f:spec": {"f:hostname": {}}}));
    assert_eq!(entries[1]["fieldsV1"], json!({"f:status": {".": {}, "f:phase": {}}}));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn second_equal_apply_changes_nothing(before in data(), config in data()) {
        let mut live = Managed::new("Service");
        live.apply("one", &before);
        live.apply("one", &config);
        let (object, entries) = (live.object.clone(), live.entries.clone());
        live.apply("one", &config);
        prop_assert_eq!((live.object, live.entries), (object, entries));
    }

    #[test]
    fn only_applier_gets_what_it_applies(before in data(), config in data()) {
        let mut live = Managed::new("Service");
        live.apply("one", &before);
        live.apply("one", &config);
        prop_assert_eq!(fields_of(&live.object, live.schema).paths(), fields_of(&config, live.schema).paths());
    }

    #[test]
    fn values_of_others_survive(mine in data(), theirs in data(), next in data()) {
        let mut live = Managed::new("Service");
        live.apply("theirs", &theirs);
        live.force("mine", &mine);
        // Fields that the other still owns are in the object, whatever happens to mine.
        let owned = FieldSet::decode(&live.fields("theirs"));
        live.force("mine", &next);
        let still = FieldSet::decode(&live.fields("theirs"));
        let present = with_named_parents(&fields_of(&live.object, live.schema), live.schema);
        prop_assert_eq!(still.intersection(&present).paths(), still.paths());
        prop_assert_eq!(owned.intersection(&still).paths(), still.paths(), "nothing is gained");
    }

    #[test]
    fn sets_have_the_laws_of_sets(a in data(), b in data()) {
        let schema = Node::of_type("io.k8s.api.core.v1.Service");
        let (a, b) = (fields_of(&a, schema), fields_of(&b, schema));
        let mut union = a.clone();
        union.union(&b);
        let mut rest = union.clone();
        rest.subtract(&b);
        prop_assert!(rest.intersection(&b).is_empty());
        prop_assert_eq!(FieldSet::decode(&union.encode()), union);
    }
}
