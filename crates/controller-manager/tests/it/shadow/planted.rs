//! Deviations from what the controllers would write.

use http::Method;
use kube_endpoints_testing::until;
use serde_json::{Value, json};

use crate::cluster::Cluster;

use Deviation::{
    CustomEndpoints, Endpoints, HintedSlice, MirroredSlice, MoreSlices, NoEndpoints, NoMirroredSlices, NoSlices,
    Orphan, Slice,
};

const ENDPOINTS: &str = "endpoints-controller";
const SLICES: &str = "endpointslice-controller";
const MIRRORING: &str = "endpointslice-mirroring-controller";

/// A Service, and a change of what the controllers have written for it.
pub(super) struct Planted {
    pub(super) name: &'static str,
    pub(super) controller: &'static str,
    /// Expected classes, separated by commas.
    pub(super) classes: &'static str,
    deviation: Deviation,
}

/// Changes of the stored object: values, as JSON, of fields. A field `-` is a new element of a list.
type Fields = &'static [(&'static str, &'static str)];

enum Deviation {
    /// Fields of the first slice.
    Slice(Fields),
    /// Fields of the first slice of a Service that prefers endpoints in the same zone.
    HintedSlice(Fields),
    /// Fields of a slice that mirrors custom Endpoints.
    MirroredSlice(Fields),
    /// Fields of the Endpoints object.
    Endpoints(Fields),
    /// Fields of Endpoints that a user wrote for a Service without a selector.
    CustomEndpoints(Fields),
    NoSlices,
    NoMirroredSlices,
    NoEndpoints,
    /// One more slice: fields of a copy of the first.
    MoreSlices(Fields),
    /// Endpoints without a Service.
    Orphan,
}

const fn planted(name: &'static str, controller: &'static str, classes: &'static str, deviation: Deviation) -> Planted {
    Planted { name, controller, classes, deviation }
}

pub(super) const PLANTED: &[Planted] = &[
    planted("s-address", SLICES, "content", Slice(&[("/endpoints/0/addresses", r#"["192.0.2.1"]"#)])),
    planted("s-not-ready", SLICES, "content", Slice(&[("/endpoints/0/conditions/ready", "false")])),
    planted("s-not-serving", SLICES, "content", Slice(&[("/endpoints/0/conditions/serving", "false")])),
    planted("s-terminating", SLICES, "content", Slice(&[("/endpoints/0/conditions/terminating", "true")])),
    planted("s-node", SLICES, "content", Slice(&[("/endpoints/0/nodeName", r#""n2""#)])),
    planted("s-zone", SLICES, "content", Slice(&[("/endpoints/0/zone", r#""z2""#)])),
    planted("s-target", SLICES, "content", Slice(&[("/endpoints/0/targetRef/name", r#""other""#)])),
    planted("s-hostname", SLICES, "content", Slice(&[("/endpoints/0/hostname", r#""other""#)])),
    planted("s-no-endpoints", SLICES, "content", Slice(&[("/endpoints", "[]")])),
    planted(
        "s-more-endpoints",
        SLICES,
        "content",
        Slice(&[("/endpoints/-", r#"{"addresses": ["192.0.2.1"], "conditions": {"ready": true}}"#)]),
    ),
    planted("s-port", SLICES, "content", Slice(&[("/ports/0/port", "8081")])),
    planted("s-port-name", SLICES, "content", Slice(&[("/ports/0/name", r#""other""#)])),
    planted("s-app-protocol", SLICES, "content", Slice(&[("/ports/0/appProtocol", r#""http""#)])),
    planted("s-label", SLICES, "metadata", Slice(&[("/metadata/labels/planted", r#""yes""#)])),
    planted("s-hint", SLICES, "hints", Slice(&[("/endpoints/0/hints", r#"{"forZones": [{"name": "z1"}]}"#)])),
    planted("h-no-hint", SLICES, "hints", HintedSlice(&[("/endpoints/0/hints", "null")])),
    planted("h-zone", SLICES, "hints", HintedSlice(&[("/endpoints/0/hints/forZones/0/name", r#""z2""#)])),
    planted(
        "s-content-and-label",
        SLICES,
        "content,metadata",
        Slice(&[("/endpoints/0/conditions/ready", "false"), ("/metadata/labels/planted", r#""yes""#)]),
    ),
    planted(
        "h-content-and-hint",
        SLICES,
        "content,hints",
        HintedSlice(&[("/endpoints/0/hints", "null"), ("/endpoints/1/conditions/ready", "false")]),
    ),
    planted("s-empty-slice", SLICES, "packing", MoreSlices(&[("/endpoints", "[]"), ("/ports/0/port", "9090")])),
    planted("s-empty-slice-no-ports", SLICES, "packing", MoreSlices(&[("/endpoints", "[]"), ("/ports", "[]")])),
    planted("s-no-slices", SLICES, "objects", NoSlices),
    planted(
        "s-ipv6-slice",
        SLICES,
        "objects",
        MoreSlices(&[
            ("/addressType", r#""IPv6""#),
            ("/endpoints/0/addresses", r#"["fd00::1"]"#),
            ("/endpoints/1/addresses", r#"["fd00::2"]"#),
        ]),
    ),
    planted("e-address", ENDPOINTS, "content", Endpoints(&[("/subsets/0/addresses/0/ip", r#""192.0.2.1""#)])),
    planted("e-node", ENDPOINTS, "content", Endpoints(&[("/subsets/0/addresses/0/nodeName", r#""n2""#)])),
    planted("e-port", ENDPOINTS, "content", Endpoints(&[("/subsets/0/ports/0/port", "8081")])),
    planted("e-no-subsets", ENDPOINTS, "content", Endpoints(&[("/subsets", "[]")])),
    planted("e-more", ENDPOINTS, "content", Endpoints(&[("/subsets/0/notReadyAddresses", r#"[{"ip": "192.0.2.1"}]"#)])),
    planted("e-label", ENDPOINTS, "metadata", Endpoints(&[("/metadata/labels/planted", r#""yes""#)])),
    planted(
        "e-capacity",
        ENDPOINTS,
        "metadata",
        Endpoints(&[("/metadata/annotations/endpoints.kubernetes.io~1over-capacity", r#""truncated""#)]),
    ),
    planted("e-none", ENDPOINTS, "objects", NoEndpoints),
    planted("e-orphan", ENDPOINTS, "objects", Orphan),
    planted("m-address", MIRRORING, "content", MirroredSlice(&[("/endpoints/0/addresses", r#"["192.0.2.9"]"#)])),
    planted("m-none", MIRRORING, "objects", NoMirroredSlices),
    planted(
        "m-skipped",
        MIRRORING,
        "objects",
        CustomEndpoints(&[("/metadata/labels", r#"{"endpointslice.kubernetes.io/skip-mirror": "true"}"#)]),
    ),
];

const PREFIX: &str = "/api/v1/namespaces/default";
const SLICES_PATH: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

impl Planted {
    fn is_mirrored(&self) -> bool {
        matches!(self.deviation, MirroredSlice(_) | CustomEndpoints(_) | NoMirroredSlices)
    }

    pub(super) async fn create(&self, cluster: &Cluster, number: usize) {
        let (name, service) = (self.name, |spec: Value| json!({"metadata": {"name": self.name}, "spec": spec}));
        let port = json!({"name": "http", "port": 80, "targetPort": 8080});
        if matches!(self.deviation, Orphan) {
            return;
        }
        if self.is_mirrored() {
            cluster.create(&format!("{PREFIX}/services"), &service(json!({"ports": [port]}))).await;
            let subsets = json!([{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"name": "http", "port": 80}]}]);
            let endpoints = json!({"metadata": {"name": name, "labels": {}}, "subsets": subsets});
            cluster.create(&format!("{PREFIX}/endpoints"), &endpoints).await;
            return;
        }
        let mut spec = json!({"selector": {"app": name}, "ports": [port]});
        if matches!(self.deviation, HintedSlice(_)) {
            spec["trafficDistribution"] = "PreferClose".into();
        }
        cluster.create(&format!("{PREFIX}/services"), &service(spec)).await;
        for pod in 0..2 {
            cluster.ready_pod("default", &format!("{name}-{pod}"), name, &format!("10.1.{number}.{}", pod + 1)).await;
        }
    }

    async fn slices(&self, cluster: &Cluster) -> Vec<Value> {
        let mut slices = cluster.list(SLICES_PATH).await;
        slices.retain(|slice| slice["metadata"]["labels"]["kubernetes.io/service-name"] == self.name);
        slices
    }

    pub(super) async fn wait_until_written(&self, cluster: &Cluster) {
        if matches!(self.deviation, Orphan) {
            return;
        }
        let endpoints = if self.is_mirrored() { 1 } else { 2 };
        let is_written = |slices: &Vec<Value>| {
            slices.iter().any(|it| it["endpoints"].as_array().is_some_and(|it| it.len() == endpoints))
        };
        until(self.name, || self.slices(cluster), is_written).await;
    }

    pub(super) async fn plant(&self, cluster: &Cluster) {
        let endpoints = format!("{PREFIX}/endpoints/{}", self.name);
        match &self.deviation {
            Slice(fields) | HintedSlice(fields) | MirroredSlice(fields) => {
                let slice = self.slices(cluster).await.remove(0);
                let path = format!("{SLICES_PATH}/{}", slice["metadata"]["name"].as_str().expect("a name"));
                replace(cluster, &path, slice, fields).await;
            }
            Endpoints(fields) | CustomEndpoints(fields) => {
                let object = cluster.document(&endpoints).await.expect("the Endpoints object");
                replace(cluster, &endpoints, object, fields).await;
            }
            NoSlices | NoMirroredSlices => {
                for slice in self.slices(cluster).await {
                    let path = format!("{SLICES_PATH}/{}", slice["metadata"]["name"].as_str().expect("a name"));
                    cluster.call(Method::DELETE, &path, &Value::Null).await;
                }
            }
            NoEndpoints => {
                cluster.call(Method::DELETE, &endpoints, &Value::Null).await;
            }
            MoreSlices(fields) => {
                let mut slice = self.slices(cluster).await.remove(0);
                slice["metadata"] = json!({"name": format!("{}-more", self.name),
                    "labels": slice["metadata"]["labels"], "ownerReferences": slice["metadata"]["ownerReferences"]});
                set_all(&mut slice, fields);
                cluster.create(SLICES_PATH, &slice).await;
            }
            Orphan => {
                let object =
                    json!({"metadata": {"name": self.name}, "subsets": [{"addresses": [{"ip": "192.0.2.1"}]}]});
                cluster.create(&format!("{PREFIX}/endpoints"), &object).await;
            }
        }
    }
}

async fn replace(cluster: &Cluster, path: &str, mut object: Value, fields: Fields) {
    set_all(&mut object, fields);
    cluster.call(Method::PUT, path, &object).await;
}

fn set_all(object: &mut Value, fields: Fields) {
    for (pointer, value) in fields {
        let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
        let value: Value = serde_json::from_str(value).expect("JSON");
        let field = field.replace("~1", "/");
        match object.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")) {
            Value::Array(list) if field == "-" => list.push(value),
            Value::Null => panic!("no {parent}"),
            parent => parent[field.as_str()] = value,
        }
    }
}
