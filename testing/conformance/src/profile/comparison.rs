//! Comparison of snapshots under a profile.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Map, Value, json};

use super::{Comparison, Field, Output, Profile, labels};
use crate::{
    Snapshot, Tag,
    canonical::{items, sort, text},
    compare, difference,
};

impl Profile {
    /// Returns the differences between two snapshots, with the labels of Kubernetes, as text. Objects that the profile
    /// does not claim are not compared. `services` are the Services that exist.
    pub fn differences(
        &self,
        expected: &Snapshot,
        actual: &Snapshot,
        services: &[Value],
        tags: &BTreeSet<Tag>,
    ) -> Vec<String> {
        let (expected, actual) = (self.claimed(expected), self.claimed(actual));
        match self.compare {
            Comparison::Exact => compare(&expected, &actual, tags),
            Comparison::Endpoints => {
                let counts_hints = tags.contains(&Tag::HintCounts);
                let unions = |snapshot: &Snapshot| unions(snapshot, services, counts_hints);
                difference::between(&unions(&expected), &unions(&actual))
            }
        }
    }

    /// Returns the part of a snapshot that the profile claims, without the fields that it ignores.
    fn claimed<'a>(&self, snapshot: &'a Snapshot) -> Cow<'a, Snapshot> {
        if self.claims_everything() {
            return Cow::Borrowed(snapshot);
        }
        let Snapshot { mut endpoints, mut slices, mut events } = snapshot.clone();
        if !self.claims(Output::Endpoints) {
            endpoints.clear();
        }
        slices.retain(|slice| !self.is_unclaimed(slice));
        events.retain(|event| self.events && self.reports(event[5].as_str().unwrap_or_default()));
        if !self.ignore.is_empty() {
            let subsets = endpoints.iter_mut().flat_map(|object| list_mut(object, "subsets"));
            let addresses = subsets.flat_map(|subset| {
                let lists = subset.as_object_mut().into_iter().flat_map(Map::iter_mut);
                lists.filter(|(key, _)| *key != "ports").flat_map(|(_, list)| list.as_array_mut().into_iter().flatten())
            });
            let in_slices = slices.iter_mut().flat_map(|slice| list_mut(slice, "endpoints"));
            addresses.chain(in_slices).for_each(|entry| self.ignore.iter().for_each(|field| field.remove(entry)));
        }
        Cow::Owned(Snapshot { endpoints, slices, events })
    }

    /// Returns whether snapshots are compared as a whole.
    fn claims_everything(&self) -> bool {
        self.events && self.ignore.is_empty() && Output::ALL.iter().all(|&output| self.claims(output))
    }

    /// Returns whether an event component of Kubernetes is that of a controller whose output is claimed.
    fn reports(&self, component: &str) -> bool {
        match component {
            "endpoint-controller" => self.claims(Output::Endpoints),
            "endpoint-slice-controller" => self.claims(Output::ServiceSlices),
            "endpoint-slice-mirroring-controller" => self.claims(Output::MirroredSlices),
            _ => true,
        }
    }
}

impl Field {
    /// Returns the object of an endpoint that has the field, if it is not the endpoint itself, and the name of the field.
    fn path(self) -> (Option<&'static str>, &'static str) {
        match self {
            Self::Hints => (None, "hints"),
            Self::Hostname => (None, "hostname"),
            Self::NodeName => (None, "nodeName"),
            Self::Serving => (Some("conditions"), "serving"),
            Self::TargetRef => (None, "targetRef"),
            Self::Terminating => (Some("conditions"), "terminating"),
            Self::Zone => (None, "zone"),
        }
    }

    /// Returns the name of the field in the API.
    pub fn name(self) -> &'static str {
        self.path().1
    }

    fn remove(self, entry: &mut Value) {
        let (parent, key) = self.path();
        let parent = if let Some(parent) = parent { entry.get_mut(parent) } else { Some(entry) };
        if let Some(fields) = parent.and_then(Value::as_object_mut) {
            fields.remove(key);
        }
    }
}

/// Returns the endpoints of a snapshot regardless of their distribution to objects. Groups without endpoints are
/// omitted, and slices of Services that do not exist or do not select Pods any longer: Kubernetes' slice controller leaves
/// them as they are, and others may delete them.
fn unions(snapshot: &Snapshot, services: &[Value], counts_hints: bool) -> Value {
    let Snapshot { endpoints, slices, events: _ } = snapshot;
    let mut of_slices = BTreeMap::<String, BTreeMap<String, Value>>::new();
    let mut hints = BTreeMap::<String, BTreeMap<String, usize>>::new();
    for slice in slices.iter().filter(|slice| is_due(slice, services)) {
        let key = text(&json!({
            "service": slice["labels"][labels::SERVICE_NAME_LABEL],
            "managed-by": slice["labels"][labels::MANAGED_BY_LABEL],
            "addressType": slice["addressType"],
            "ports": slice["ports"],
        }));
        for mut endpoint in items(&slice["endpoints"]) {
            spell_out(&mut endpoint);
            if counts_hints && let Some(fields) = endpoint.as_object_mut() {
                let hint = fields.remove("hints").map_or_else(|| "none".to_owned(), |hint| text(&hint));
                *hints.entry(key.clone()).or_default().entry(hint).or_default() += 1;
            }
            of_slices.entry(key.clone()).or_default().insert(text(&endpoint), endpoint);
        }
    }
    let of_endpoints = endpoints.iter().map(|object| (object["name"].as_str().unwrap_or_default(), addresses(object)));
    let of_endpoints = of_endpoints.filter(|(_, addresses)| !addresses.is_empty());
    let of_slices = of_slices.into_iter().map(|(key, endpoints)| (key, endpoints.into_values().collect::<Value>()));
    json!({
        "endpoints": of_endpoints.map(|(name, all)| (name.to_owned(), all.into())).collect::<Map<_, _>>(),
        "slices": of_slices.collect::<Map<_, _>>(),
        "hints": hints,
    })
}

/// Returns whether a slice has a Service that calls for it.
fn is_due(slice: &Value, services: &[Value]) -> bool {
    let labels = &slice["labels"];
    let Some(name) = labels[labels::SERVICE_NAME_LABEL].as_str() else { return true };
    let Some(service) = services.iter().find(|service| service["metadata"]["name"] == *name) else { return false };
    let output = labels[labels::MANAGED_BY_LABEL].as_str().and_then(labels::output_of);
    let spec = &service["spec"];
    output != Some(Output::ServiceSlices) || (!spec["selector"].is_null() && spec["type"] != "ExternalName")
}

/// Replaces absent conditions of an endpoint by their meaning: ready, serving if ready, and not terminating.
///
/// Conditions that are ignored are absent from all endpoints, and `serving` equals `ready` in all of them.
fn spell_out(endpoint: &mut Value) {
    let ready = endpoint["conditions"]["ready"].as_bool().unwrap_or(true);
    let serving = endpoint["conditions"]["serving"].as_bool().unwrap_or(ready);
    let terminating = endpoint["conditions"]["terminating"].as_bool().unwrap_or(false);
    endpoint["conditions"] = json!({ "ready": ready, "serving": serving, "terminating": terminating });
}

/// Returns each address of an Endpoints object with each of its ports, sorted and without duplicates.
fn addresses(object: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in items(&object["subsets"]) {
        let ports = Some(items(&subset["ports"])).filter(|ports| !ports.is_empty()).unwrap_or(vec![Value::Null]);
        for (key, ready) in [("addresses", true), ("notReadyAddresses", false)] {
            for address in items(&subset[key]) {
                all.extend(ports.iter().map(|port| json!({ "address": address, "port": port, "ready": ready })));
            }
        }
    }
    sort(&mut all);
    all.dedup();
    all
}

fn list_mut<'a>(object: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn profile(fields: &str) -> Profile {
        Profile::parse(&format!("{{name: n, service-slices: {{}}, endpoints: true, {fields}}}")).unwrap()
    }

    fn web() -> [Value; 1] {
        [json!({ "metadata": { "name": "web" }, "spec": { "selector": { "app": "web" } } })]
    }

    fn slice(name: &str, endpoints: &Value) -> Value {
        let labels = json!({
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        });
        json!({ "name": name, "labels": labels, "addressType": "IPv4", "ports": [], "endpoints": endpoints })
    }

    fn of(slices: &[Value]) -> Snapshot {
        Snapshot { slices: slices.to_vec(), ..Snapshot::default() }
    }

    #[rstest]
    #[case::other_packing(&[slice("a", &json!([{"addresses": ["1"]}])), slice("b", &json!([{"addresses": ["2"]}]))], true)]
    #[case::twice(&[slice("a", &json!([{"addresses": ["1"]}, {"addresses": ["2"]}])), slice("b", &json!([{"addresses": ["2"]}]))], true)]
    #[case::placeholder(&[slice("a", &json!([{"addresses": ["1"]}, {"addresses": ["2"]}])), slice("b", &json!([]))], true)]
    #[case::conditions(&[slice("a", &json!([{"addresses": ["1"], "conditions": {"ready": true}}, {"addresses": ["2"]}]))], true)]
    #[case::missing(&[slice("a", &json!([{"addresses": ["1"]}]))], false)]
    #[case::one_more(&[slice("a", &json!([{"addresses": ["1"]}, {"addresses": ["2"]}, {"addresses": ["3"]}]))], false)]
    #[case::not_ready(&[slice("a", &json!([{"addresses": ["1"]}, {"addresses": ["2"], "conditions": {"ready": false}}]))], false)]
    #[case::hint(&[slice("a", &json!([{"addresses": ["1"]}, {"addresses": ["2"], "hints": {}}]))], false)]
    fn endpoints_only(#[case] actual: &[Value], #[case] equal: bool) {
        let expected = of(&[slice("web-*", &json!([{"addresses": ["1"]}, {"addresses": ["2"]}]))]);
        let differences = profile("compare: endpoints").differences(&expected, &of(actual), &web(), &<_>::default());
        assert_eq!(differences.is_empty(), equal, "{differences:#?}");
        // The exact comparison distinguishes them all.
        assert!(!profile("compare: exact").differences(&expected, &of(actual), &web(), &<_>::default()).is_empty());
    }

    #[rstest]
    #[case("hints", json!({"hints": {"forZones": []}}))]
    #[case("hostname", json!({"hostname": "a"}))]
    #[case("node-name", json!({"nodeName": "a"}))]
    #[case("target-ref", json!({"targetRef": {"kind": "Pod"}}))]
    #[case("zone", json!({"zone": "a"}))]
    #[case("serving", json!({"conditions": {"serving": false}}))]
    #[case("terminating", json!({"conditions": {"terminating": true}}))]
    fn ignored_fields(#[case] field: &str, #[case] mut differs: Value, #[values("exact", "endpoints")] compare: &str) {
        differs["addresses"] = json!(["1"]);
        let conditions = if differs["conditions"].is_null() { Value::Null } else { json!({}) };
        let mut plain = json!({ "addresses": ["1"] });
        if !conditions.is_null() {
            plain["conditions"] = conditions;
        }
        let (expected, actual) = (of(&[slice("web-*", &json!([plain]))]), of(&[slice("web-*", &json!([differs]))]));
        let all = profile(&format!("compare: {compare}"));
        assert!(!all.differences(&expected, &actual, &web(), &<_>::default()).is_empty());
        let ignoring = profile(&format!("compare: {compare}, ignore: [{field}]"));
        assert_eq!(ignoring.differences(&expected, &actual, &web(), &<_>::default()), [""; 0]);
    }

    #[test]
    fn endpoints_objects_are_unions_of_addresses_and_ports() {
        let object =
            |subsets: Value| Snapshot { endpoints: vec![json!({"name": "web", "subsets": subsets})], ..<_>::default() };
        let one = object(json!([{"addresses": [{"ip": "1"}], "ports": [{"port": 1}, {"port": 2}]}]));
        let two = object(json!([
            {"addresses": [{"ip": "1"}], "ports": [{"port": 2}]}, {"addresses": [{"ip": "1"}], "ports": [{"port": 1}]}
        ]));
        let profile = profile("compare: endpoints");
        assert_eq!(profile.differences(&one, &two, &web(), &<_>::default()), [""; 0]);
        let unready = object(json!([{"notReadyAddresses": [{"ip": "1"}], "ports": [{"port": 1}, {"port": 2}]}]));
        assert!(!profile.differences(&one, &unready, &web(), &<_>::default()).is_empty());
        assert_eq!(profile.differences(&object(json!([])), &Snapshot::default(), &web(), &<_>::default()), [""; 0]);
    }

    #[test]
    fn slices_that_the_slice_controller_has_lost_are_compared_only_with_its_own() {
        let mut lost = slice("web-*", &json!([{"addresses": ["1"]}]));
        lost["labels"][labels::MANAGED_BY_LABEL] = json!("me.example.com");
        for (profile, differences) in [("service-slices", 1), ("endpoints", 0), ("mirrored-slices", 0)] {
            let profile = Profile::find(profile).unwrap();
            let found = profile.differences(&of(&[lost.clone()]), &Snapshot::default(), &web(), &<_>::default());
            assert_eq!(found.len(), differences, "{found:?}");
        }
    }

    #[rstest]
    #[case::none(json!(null), 0)]
    #[case::no_selector(json!({"ports": []}), 0)]
    #[case::external(json!({"selector": {"a": "b"}, "type": "ExternalName"}), 0)]
    #[case::selects(json!({"selector": {"a": "b"}, "type": "ClusterIP"}), 1)]
    fn slices_that_are_left_behind_are_compared_only_exactly(#[case] spec: Value, #[case] in_unions: usize) {
        let services = [json!({ "metadata": { "name": "web" }, "spec": spec })];
        let services = if spec.is_null() { &[] } else { &services[..] };
        let expected = of(&[slice("web-*", &json!([{"addresses": ["1"]}]))]);
        let differences = |compare| {
            let profile = profile(&format!("compare: {compare}"));
            profile.differences(&expected, &Snapshot::default(), services, &<_>::default()).len()
        };
        assert_eq!((differences("endpoints"), differences("exact")), (in_unions, 1));
    }

    #[test]
    fn what_is_not_claimed_is_not_compared() {
        let slices = Profile::find("service-slices").unwrap();
        let mut mirrored = slice("web-*", &json!([{"addresses": ["1"]}]));
        mirrored["labels"][labels::MANAGED_BY_LABEL] = json!(labels::upstream_manager(Output::MirroredSlices));
        let endpoints = vec![json!({"name": "web", "subsets": []})];
        let expected = Snapshot { endpoints, slices: vec![mirrored], events: Vec::new() };
        assert_eq!(slices.differences(&expected, &Snapshot::default(), &web(), &<_>::default()), [""; 0]);
        assert_eq!(
            Profile::find("controller-manager")
                .unwrap()
                .differences(&expected, &Snapshot::default(), &web(), &<_>::default())
                .len(),
            2
        );
    }
}
