//! Changes of Endpoints and slices by users and other controllers.

use serde_json::{Value, json};

use super::author::Author;
use crate::endpoints::marks::EDITED;
use crate::endpoints::object::{SERVICE_NAME, SKIP_MIRROR, SLICE_CONTROLLER, SLICE_MANAGED_BY};
use crate::endpoints::requests::{create, delete, patch};
use crate::endpoints::slice_paths::{collection, slice_path};

/// Name of another controller that manages slices.
const OTHER: &str = "other.example.com";

impl Author {
    /// Adds a change of the Endpoints of a Service, which the user or a controller has created.
    pub(super) fn endpoints(&mut self) {
        let number = self.below(self.services.len());
        let path = self.path(number, "endpoints");
        let has_endpoints = self.custom[number];
        let has_selector = self.services[number].has_selector;
        if !has_endpoints && !has_selector {
            let object = json!({
                "apiVersion": "v1",
                "kind": "Endpoints",
                "metadata": { "name": format!("service-{number}"), "labels": { EDITED: "true" } },
                "subsets": self.subsets(),
            });
            self.then(create(path.rsplit_once('/').map_or("", |(collection, _)| collection), object));
            self.custom[number] = true;
            return;
        }
        let mut change = match self.below(10) {
            0..5 => json!({ "subsets": self.subsets() }),
            5..7 => {
                let skip = self.pick(&["true".into(), "false".into(), Value::Null]);
                json!({ "metadata": { "labels": { SKIP_MIRROR: skip } } })
            }
            7 => {
                let value = self.pick(&["1".into(), "2".into(), Value::Null]);
                json!({ "metadata": { "labels": { "team": value }, "annotations": { "example.com/note": value } } })
            }
            _ => {
                self.then(delete(path));
                self.custom[number] = false;
                return;
            }
        };
        change["metadata"]["labels"][EDITED] = "true".into();
        self.then(patch(path, change));
    }

    /// Returns up to two subsets, with addresses of both families.
    fn subsets(&mut self) -> Value {
        let count = self.below(3);
        let subsets = (0..count).map(|_| {
            let number = self.below(4) + 1;
            let mut subset = json!({ "addresses": [{ "ip": format!("10.8.0.{number}") }] });
            if self.chance(0.4) {
                subset["notReadyAddresses"] = json!([{ "ip": format!("10.9.0.{number}"), "nodeName": "node-0" }]);
            }
            if self.chance(0.2) {
                subset["addresses"] = json!([{ "ip": format!("fd08::{number}") }, { "ip": "10.8.0.9" }]);
            }
            if self.chance(0.9) {
                subset["ports"] = self.pick(&[
                    json!([{ "port": 80 }]),
                    json!([{ "name": "http", "port": 8080 }, { "name": "dns", "port": 53, "protocol": "UDP" }]),
                ]);
            }
            subset
        });
        subsets.collect::<Vec<_>>().into()
    }

    /// Adds a change of a slice of a Service that the controllers do not expect.
    pub(super) fn slice(&mut self) {
        let number = self.below(self.services.len());
        let namespace = self.namespace(number);
        let service = format!("service-{number}");
        let place = self.pick(&[0, 0, 0, 1, 2]);
        let path = slice_path(namespace, &service, place);
        let labels = |labels: Value| json!({ "metadata": { "labels": labels } });
        let change = match self.below(12) {
            0..3 => return self.then(delete(path)),
            3 => json!({ "endpoints": [] }),
            4 => json!({ "endpoints": [{ "addresses": ["10.7.7.7"], "conditions": {} }] }),
            5 => labels(json!({ "team": self.next().to_string() })),
            6 => labels(json!({ SLICE_MANAGED_BY: OTHER })),
            7 => labels(json!({ SLICE_MANAGED_BY: SLICE_CONTROLLER })),
            8 => labels(json!({ SERVICE_NAME: format!("service-{}", self.below(self.services.len())) })),
            9 => {
                self.then(patch(path.clone(), json!({ "metadata": { "finalizers": ["example.com/hold"] } })));
                self.then(delete(path.clone()));
                if !self.chance(0.7) {
                    return;
                }
                json!({ "metadata": { "finalizers": null } })
            }
            // A slice with the label of the slice controller has no owner here; a sync of the Service deletes it.
            choice => {
                let manager = if choice == 10 { OTHER } else { SLICE_CONTROLLER };
                let object = json!({
                    "apiVersion": "discovery.k8s.io/v1",
                    "kind": "EndpointSlice",
                    "metadata": {
                        "name": format!("{service}-by-hand-{}", self.next()),
                        "labels": { SERVICE_NAME: service, SLICE_MANAGED_BY: manager },
                    },
                    "addressType": "IPv4",
                    "endpoints": [{ "addresses": ["10.7.7.8"], "conditions": {} }],
                    "ports": [{ "name": "", "port": 80, "protocol": "TCP" }],
                });
                return self.then(create(collection(namespace), object));
            }
        };
        self.then(patch(path, change));
    }
}
