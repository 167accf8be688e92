//! Changes of Services.

use serde_json::{Value, json};

use super::author::{APPS, Author, Service};
use crate::endpoints::requests::{core, create, delete, patch, service};

impl Author {
    pub(super) fn service(&mut self) {
        let number = self.below(self.services.len());
        let path = self.path(number, "services");
        let Service { exists, has_selector, is_external, .. } = self.services[number];
        if !exists {
            return self.create_service(number);
        }
        let change = match self.below(100) {
            0..20 => {
                self.services[number].has_selector = true;
                json!({ "spec": { "selector": self.selector() } })
            }
            20..30 if has_selector => {
                self.services[number].has_selector = false;
                json!({ "spec": { "selector": null } })
            }
            30..45 => json!({ "spec": { "ports": self.ports() } }),
            45..60 => json!({ "spec": { "publishNotReadyAddresses": self.chance(0.5) } }),
            60..68 => {
                let value = self.pick(&[Value::Null, "blue".into(), "red".into()]);
                json!({ "metadata": { "labels": { "team": value } } })
            }
            68..73 => json!({ "spec": { "ipFamilyPolicy": self.pick(&["SingleStack", "PreferDualStack"]) } }),
            73..78 => {
                let distribution = self.pick(&[Value::Null, "PreferClose".into(), "PreferSameNode".into()]);
                json!({ "spec": { "trafficDistribution": distribution } })
            }
            78..83 => {
                self.services[number].is_external = !is_external;
                if is_external {
                    json!({ "spec": { "type": "ClusterIP", "externalName": null } })
                } else {
                    json!({ "spec": {
                        "type": "ExternalName", "externalName": "example.com",
                        "clusterIP": null, "clusterIPs": null, "ipFamilies": null, "ipFamilyPolicy": null,
                    } })
                }
            }
            83..90 => return self.delete_service(number),
            _ => {
                self.delete_service(number);
                return self.create_service(number);
            }
        };
        self.then(patch(path, change));
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
