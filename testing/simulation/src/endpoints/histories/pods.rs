//! Changes of Pods.

use serde_json::{Value, json};

use super::author::{Author, Pod};
use crate::endpoints::requests::{core, create, delete_pod, patch, pod, readiness, running};

/// Grace period in seconds that is longer than any history.
const LONG: u32 = 600;

/// Finalizer that keeps a deleted Pod.
const FINALIZER: &str = "example.com/hold";

impl Author {
    pub(super) fn pod(&mut self) {
        let number = self.below(self.pods.len());
        let path = self.pod_path(number);
        let status = format!("{path}/status");
        let Pod { exists, terminating, held, .. } = self.pods[number];
        if !exists {
            self.create_pod(number);
            return;
        }
        if terminating {
            match self.below(4) {
                0 => self.set_ready(number, false),
                1 if held => {
                    self.then(patch(path, json!({ "metadata": { "finalizers": null } })));
                    self.pods[number] = Pod::default();
                }
                1 => self.relabel(number),
                _ => self.remove_pod(number),
            }
            return;
        }
        match self.below(100) {
            0..22 => self.set_ready(number, true),
            22..42 => self.set_ready(number, false),
            42..54 => self.relabel(number),
            54..60 => {
                let (ips, ready) = (self.fresh_ips(), self.chance(0.8));
                let at = self.next();
                self.then(patch(status, running("Running", &ips, ready, at)));
            }
            60..66 => {
                // The addresses change too, since a change of only the phase triggers no sync (EC-2).
                let (ips, phase) = (self.fresh_ips(), self.pick(&["Succeeded", "Failed"]));
                let at = self.next();
                self.then(patch(status, running(phase, &ips, false, at)));
            }
            66..80 => {
                self.then(delete_pod(path, LONG));
                self.pods[number].terminating = true;
            }
            80..90 => self.remove_pod(number),
            _ => {
                self.remove_pod(number);
                if !self.pods[number].exists {
                    self.create_pod(number);
                }
            }
        }
    }

    fn pod_path(&self, number: usize) -> String {
        format!("{}/pod-{number}", core(self.namespace(number), "pods"))
    }

    fn create_pod(&mut self, number: usize) {
        let path = self.pod_path(number);
        let (node, labels) = (self.node_name(), self.labels());
        let http = self.pick(&[Some(8_080), Some(8_080), Some(9_090), None]);
        let mut object = pod(&format!("pod-{number}"), &node, &labels, http);
        // A Pod in the host network has the same address each time it is created.
        let on_host = number % 4 == 3;
        object["spec"]["hostNetwork"] = on_host.into();
        let held = self.chance(0.1);
        if held {
            object["metadata"]["finalizers"] = json!([FINALIZER]);
        }
        if self.chance(0.1) {
            object["spec"]["hostname"] = format!("host-{number}").into();
            object["spec"]["subdomain"] = "service-0".into();
        }
        self.then(create(core(self.namespace(number), "pods"), object));
        self.pods[number] = Pod { exists: true, terminating: false, held };
        if self.chance(0.9) {
            let ips = if on_host { vec![format!("192.168.0.{}", number + 1)] } else { self.fresh_ips() };
            let (ready, at) = (self.chance(0.7), self.next());
            let phase = if ready { "Running" } else { self.pick(&["Pending", "Running"]) };
            self.then(patch(path + "/status", running(phase, &ips, ready, at)));
        }
    }

    /// Adds a deletion of a Pod with a grace period of 0 s. A Pod with a finalizer stays terminating.
    fn remove_pod(&mut self, number: usize) {
        self.then(delete_pod(self.pod_path(number), 0));
        let pod = &mut self.pods[number];
        if pod.held {
            pod.terminating = true;
        } else {
            *pod = Pod::default();
        }
    }

    fn set_ready(&mut self, number: usize, ready: bool) {
        let at = self.next();
        self.then(patch(self.pod_path(number) + "/status", readiness(ready, at)));
    }

    fn relabel(&mut self, number: usize) {
        let mut labels = self.labels();
        if labels["tier"].is_null() {
            labels["tier"] = Value::Null;
        }
        self.then(patch(self.pod_path(number), json!({ "metadata": { "labels": labels } })));
    }

    /// Returns addresses that no Pod has had: IPv4, IPv6 or both.
    fn fresh_ips(&mut self) -> Vec<String> {
        let number = self.next();
        let v4 = format!("10.1.{}.{}", number / 250, number % 250 + 1);
        let v6 = format!("fd00::{number:x}");
        match self.below(10) {
            0 => vec![v6],
            1..4 => vec![v4, v6],
            _ => vec![v4],
        }
    }
}
