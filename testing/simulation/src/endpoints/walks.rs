//! Walks: changes of the configuration of a small cluster that end with the initial configuration, after Acto. The
//! final objects of the controllers must not depend on the changes in between.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use super::object::{
    HEADLESS, LAST_APPLIED, MIRRORING_CONTROLLER, SLICE_CONTROLLER, TRIGGER_TIME, entries, is_terminating, labels,
    name, namespace,
};
use super::oracle::managed;
use super::requests::{core, create, delete_pod, node, patch, pod, readiness, running, service, step};
use super::set::compare;
use super::{Content, found};
use crate::{Operation, Step};

const NAMESPACE: &str = "default";
const PODS: usize = 4;

/// A walk: the setup of a cluster, and changes of its configuration that end where they began.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// Steps that create the cluster. The walk must lead back to its content after it has settled.
    pub setup: Vec<Step>,
    /// Changes that end with the configuration after `setup`. None of them can be removed.
    pub steps: Vec<Step>,
}

/// Property of the configuration.
struct Property {
    /// Possible values; the first is the initial one.
    values: Vec<Value>,
    /// Index of the current value.
    now: usize,
    change: Change,
}

/// Function that returns the requests that set a property to a value.
type Change = Box<dyn Fn(&Value) -> Vec<Operation>>;

/// Returns a walk of `length` changes, followed by those that revert them. The same seed gives the same walk.
pub fn walk(seed: u64, length: usize) -> Walk {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut properties = properties();
    let mut steps = Vec::new();
    for _ in 0..length {
        let property = rng.random_range(0..properties.len());
        let property = &mut properties[property];
        let value = (property.now + rng.random_range(1..property.values.len())) % property.values.len();
        go(property, value, &mut rng, &mut steps);
    }
    // Reset the properties in random order.
    while let Some(property) = {
        let away: Vec<_> = properties.iter_mut().filter(|property| property.now != 0).collect();
        let count = away.len();
        (count > 0).then(|| away.into_iter().nth(rng.random_range(0..count))).flatten()
    } {
        go(property, 0, &mut rng, &mut steps);
    }
    Walk { setup: setup(), steps }
}

fn go(property: &mut Property, value: usize, rng: &mut StdRng, steps: &mut Vec<Step>) {
    property.now = value;
    for operation in (property.change)(&property.values[value]) {
        let after = if rng.random_bool(0.5) { 0 } else { rng.random_range(0..3_000) };
        steps.push(step(Duration::from_millis(after), operation));
    }
}

fn path(resource: &str, name: &str) -> String {
    format!("{}/{name}", core(NAMESPACE, resource))
}

/// Returns a property that is a field of an object, set by a merge patch.
fn field(path: String, wrap: fn(&Value) -> Value, values: Vec<Value>) -> Property {
    Property { values, now: 0, change: Box::new(move |value| vec![patch(path.clone(), wrap(value))]) }
}

fn properties() -> Vec<Property> {
    let selector = |value: &Value| json!({ "spec": { "selector": value } });
    let ports = |value: &Value| json!({ "spec": { "ports": value } });
    let publish = |value: &Value| json!({ "spec": { "publishNotReadyAddresses": value } });
    let policy = |value: &Value| json!({ "spec": { "ipFamilyPolicy": value } });
    let team = |value: &Value| json!({ "metadata": { "labels": { "team": value } } });
    let app = |value: &Value| json!({ "metadata": { "labels": { "app": value } } });
    let skip = |value: &Value| json!({ "metadata": { "labels": { super::object::SKIP_MIRROR: value } } });
    let subsets = |value: &Value| json!({ "subsets": value });

    let mut properties = vec![
        field(path("endpoints", "custom"), skip, vec![Value::Null, "true".into()]),
        field(path("endpoints", "custom"), team, vec![Value::Null, "blue".into()]),
        field(
            path("endpoints", "custom"),
            subsets,
            vec![
                custom_subsets(),
                json!([]),
                json!([{ "addresses": [{ "ip": "10.8.0.3" }], "ports": [{ "port": 81 }] }]),
            ],
        ),
    ];
    for (name, app) in [("web", "a"), ("db", "b")] {
        let path = path("services", name);
        let apps = [app, "a", "b", "c"].map(|app| json!({ "app": app }));
        properties.extend([
            field(path.clone(), selector, apps.into_iter().chain([Value::Null]).collect()),
            field(
                path.clone(),
                ports,
                vec![
                    service_ports(),
                    json!([{ "name": "http", "port": 80, "targetPort": 8080 }]),
                    json!([{ "name": "web", "port": 80, "targetPort": "http" }]),
                ],
            ),
            field(path.clone(), publish, vec![false.into(), true.into()]),
            field(path.clone(), policy, vec!["SingleStack".into(), "PreferDualStack".into()]),
            field(path, team, vec![Value::Null, "blue".into(), "red".into()]),
        ]);
    }
    for number in 0..PODS {
        let path = path("pods", &format!("pod-{number}"));
        // A recreated Pod has its initial labels and status, so existence, labels and readiness are one property.
        let first = json!({ "app": labels_of(number)["app"], "ready": is_ready(number) });
        let values =
            vec![first, Value::Null, json!({ "app": "c", "ready": true }), json!({ "app": "a", "ready": false })];
        let change = move |value: &Value| {
            // Deletes of missing Pods and creates of existing ones are rejected, without effect.
            if value.is_null() {
                return vec![delete_pod(path.clone(), 0)];
            }
            let mut operations = make_pod(number);
            operations.push(patch(path.clone(), app(&value["app"])));
            operations.push(patch(format!("{path}/status"), readiness(value["ready"] == true, 0)));
            operations
        };
        properties.push(Property { values, now: 0, change: Box::new(change) });
    }
    properties
}

fn labels_of(number: usize) -> Value {
    json!({ "app": if number.is_multiple_of(2) { "a" } else { "b" } })
}

fn is_ready(number: usize) -> bool {
    number != 3
}

/// Returns the requests that create a Pod in its initial state. Its addresses are always the same.
fn make_pod(number: usize) -> Vec<Operation> {
    let name = format!("pod-{number}");
    let http = if number == 2 { 9_090 } else { 8_080 };
    let object = pod(&name, "node-0", &labels_of(number), Some(http));
    let ips = [format!("10.1.0.{}", number + 1), format!("fd00::{}", number + 1)];
    let status = running("Running", &ips, is_ready(number), 0);
    vec![create(core(NAMESPACE, "pods"), object), patch(path("pods", &name) + "/status", status)]
}

fn service_ports() -> Value {
    json!([{ "name": "http", "port": 80, "targetPort": "http" }])
}

fn custom_subsets() -> Value {
    json!([{
        "addresses": [{ "ip": "10.8.0.1" }, { "ip": "fd08::1" }],
        "notReadyAddresses": [{ "ip": "10.8.0.2" }],
        "ports": [{ "name": "http", "port": 80 }],
    }])
}

fn setup() -> Vec<Step> {
    let service =
        |name, selector: Value| create(core(NAMESPACE, "services"), service(name, &selector, &service_ports()));
    let endpoints = json!({
        "apiVersion": "v1", "kind": "Endpoints", "metadata": { "name": "custom" }, "subsets": custom_subsets(),
    });
    let mut operations = vec![
        create("/api/v1/nodes", node("node-0", Some("zone-a"))),
        service("web", json!({ "app": "a" })),
        service("db", json!({ "app": "b" })),
        service("custom", Value::Null),
        create(core(NAMESPACE, "endpoints"), endpoints),
    ];
    operations.extend((0..PODS).flat_map(make_pod));
    operations.into_iter().map(|operation| step(Duration::ZERO, operation)).collect()
}

/// Returns the differences between the objects of the controllers before and after a walk, in endpoints, ports,
/// conditions, labels and annotations. Names, packing, uids and trigger times are not compared.
pub fn same_content(before: &Content, after: &Content) -> Vec<String> {
    let mut lines = Vec::new();
    let owners: BTreeSet<_> = [before, after].into_iter().flat_map(owners).collect();
    for (namespace, name) in owners {
        let about = format!("{namespace}/{name}");
        for (what, controller) in [("slices", SLICE_CONTROLLER), ("mirrored slices", MIRRORING_CONTROLLER)] {
            let about = format!("{about} {what}");
            let [before, after] = [before, after].map(|content| slices(content, (namespace, name), controller));
            let [want, have] = [&before, &after].map(|it| found::slices(&about, it.iter().copied(), &mut lines));
            compare(&about, &want, &have, false, &mut lines);
            let [want, have] = [&before, &after].map(|it| it.iter().map(|slice| metadata(slice)).collect());
            same::<BTreeSet<_>>(&about, &want, &have, &mut lines);
        }
        let about = format!("{about} Endpoints");
        match [before, after].map(|content| content.endpoints_of(namespace, name)) {
            [Some(before), Some(after)] => {
                let [want, have] = [before, after].map(|it| found::endpoints(&about, it, &mut lines));
                compare(&about, &want, &have, false, &mut lines);
                same(&about, &metadata(before), &metadata(after), &mut lines);
            }
            [Some(_), None] => lines.push(format!("{about} are missing")),
            [None, Some(_)] => lines.push(format!("{about} did not exist before")),
            [None, None] => {}
        }
    }
    lines
}

/// Returns namespace and name of each Service and each Endpoints object.
fn owners(content: &Content) -> impl Iterator<Item = (&str, &str)> {
    content.services.iter().chain(&content.endpoints).map(|it| (namespace(it), name(it)))
}

fn slices<'a>(content: &'a Content, owner: (&'a str, &'a str), controller: &'a str) -> Vec<&'a Value> {
    managed(content, controller, owner).filter(|slice| !is_terminating(slice)).collect()
}

type Metadata<'a> = [BTreeMap<&'a str, &'a str>; 2];

/// Returns labels and annotations, except those that depend on the history of the object.
fn metadata(object: &Value) -> Metadata<'_> {
    [labels(object, &[HEADLESS]), entries(&object["metadata"]["annotations"], &[TRIGGER_TIME, LAST_APPLIED])]
}

fn same<T: PartialEq + std::fmt::Debug>(about: &str, want: &T, have: &T, lines: &mut Vec<String>) {
    if want != have {
        lines.push(format!("{about}: expected labels and annotations {want:?}, found {have:?}"));
    }
}
