//! `v1` Node.

use k8s_openapi::api::core::v1::Node;
use serde_json::{Map, Value, json};

use super::{Resource, shape};

impl Resource for Node {
    const SELECTABLE: &'static [&'static str] = &["spec.unschedulable"];

    fn apply_defaults(&mut self) {
        // As upstream, allocatable defaults to capacity.
        if let Some(status) = &mut self.status
            && status.allocatable.is_none()
        {
            status.allocatable.clone_from(&status.capacity);
        }
    }

    // A created node keeps its status, since kubelets register with one. There is no `TaintNodesByCondition` admission,
    // so no `not-ready` taint.

    fn prepare_update(&mut self, old: &Self) {
        self.status.clone_from(&old.status);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::section(object, "spec");
        let Some(status) = shape::section(object, "status") else { return };
        shape::always(
            status,
            &[
                ("daemonEndpoints", json!({"kubeletEndpoint": {"Port": 0}})),
                (
                    "nodeInfo",
                    json!({
                        "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "", "osImage": "",
                        "containerRuntimeVersion": "", "kubeletVersion": "", "kubeProxyVersion": "",
                        "operatingSystem": "", "architecture": ""
                    }),
                ),
            ],
        );
        for condition in shape::items(status, "conditions") {
            shape::always(condition, &[("lastHeartbeatTime", Value::Null), ("lastTransitionTime", Value::Null)]);
        }
    }
}
