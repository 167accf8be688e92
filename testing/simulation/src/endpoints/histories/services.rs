//! Changes of Services.

use serde_json::{Value, json};

use super::author::{APPS, Author, Service};
use crate::endpoints::requests::{core, create, delete, patch, service};

impl Author {
    /// Adds a change of a Service.
    pub(super) fn service(&mut self) {
        let number = self.below(self.services.len());
        let path = self.path(number, "services");
        let Service { exists, has_selector, is_external, .. } = self.services[number];
        if !exists {
            self.create_service(number);
            return;
        }
        match self.below(100) {
            0..20 if has_selector => {
                let selector = self.selector();
                self.then(patch(path, json!({ "spec": { "selector": selector } })));
            }
            0..20 => {
                let selector = self.selector();
                self.then(patch(path, json!({ "spec": { "selector": selector } })));
                self.services[number].has_selector = true;
            }
            20..30 if has_selector => {
                self.then(patch(path, json!({ "spec": { "selector": null } })));
                self.services[number].has_selector = false;
            }
            30..45 => {
                let ports = self.ports();
                self.then(patch(path, json!({ "spec": { "ports": ports } })));
            }
            45..60 => {
                let publish = self.chance(0.5);
                self.then(patch(path, json!({ "spec": { "publishNotReadyAddresses": publish } })));
            }
            60..68 => {
                let value = self.pick(&[Value::Null, "blue".into(), "red".into()]);
                self.then(patch(path, json!({ "metadata": { "labels": { "team": value } } })));
            }
            68..73 => {
                let policy = self.pick(&["SingleStack", "PreferDualStack"]);
                self.then(patch(path, json!({ "spec": { "ipFamilyPolicy": policy } })));
            }
            73..78 => {
                let distribution = self.pick(&[Value::Null, "PreferClose".into(), "PreferSameNode".into()]);
                self.then(patch(path, json!({ "spec": { "trafficDistribution": distribution } })));
            }
            78..83 => {
                let spec = if is_external {
                    json!({ "type": "ClusterIP", "externalName": null })
                } else {
                    json!({
                        "type": "ExternalName", "externalName": "example.com",
                        "clusterIP": null, "clusterIPs": null, "ipFamilies": null, "ipFamilyPolicy": null,
                    })
                };
                self.then(patch(path, json!({ "spec": spec })));
                self.services[number].is_external = !is_external;
            }
            83..90 => self.delete_service(number),
            _ => {
                self.delete_service(number);
                self.create_service(number);
            }
        }
    }

    /// Returns the path of the object of a resource with the name of the Service with this number.
    pub(super) fn path(&self, number: usize, resource: &str) -> String {
        format!("{}/service-{number}", core(self.namespace(number), resource))
    }

    fn create_service(&mut self, number: usize) {
        let has_selector = self.chance(0.8);
        let mut selector = if has_selector { self.selector() } else { Value::Null };
        // Null values are valid only in a patch.
        if let Some(entries) = selector.as_object_mut() {
            entries.retain(|_, value| !value.is_null());
        }
        let ports = self.ports();
        let mut object = service(&format!("service-{number}"), &selector, &ports);
        let spec = &mut object["spec"];
        if self.chance(0.25) {
            spec["clusterIP"] = "None".into();
            if self.chance(0.3) {
                spec["ports"] = json!([]);
            }
        }
        match self.below(10) {
            0 => spec["ipFamilies"] = json!(["IPv6"]),
            1..4 => spec["ipFamilyPolicy"] = "PreferDualStack".into(),
            _ => {}
        }
        if self.chance(0.2) {
            spec["publishNotReadyAddresses"] = true.into();
        }
        self.then(create(core(self.namespace(number), "services"), object));
        self.services[number] = Service { exists: true, has_selector, is_external: false };
    }

    fn delete_service(&mut self, number: usize) {
        self.then(delete(self.path(number, "services")));
        self.services[number] = Service::default();
        self.custom[number] = false;
    }

    fn selector(&mut self) -> Value {
        let app = self.pick(&APPS);
        // Null removes the key: a merge patch keeps the keys that it does not contain.
        json!({ "app": app, "tier": if self.chance(0.15) { "front".into() } else { Value::Null } })
    }

    /// Returns one or two ports, with target ports by number or by name.
    fn ports(&mut self) -> Value {
        self.pick(&[
            json!([{ "name": "http", "port": 80, "targetPort": 8080 }]),
            json!([{ "name": "http", "port": 80, "targetPort": "http" }]),
            json!([{ "name": "web", "port": 80, "targetPort": "http", "appProtocol": "kubernetes.io/h2c" }]),
            json!([
                { "name": "http", "port": 80, "targetPort": "http" },
                { "name": "dns", "port": 53, "protocol": "UDP", "targetPort": 5353 },
            ]),
            json!([{ "port": 80 }]),
        ])
    }
}
