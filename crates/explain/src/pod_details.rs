//! State of a Pod that no controller reads, but an explanation does.

use k8s_openapi::api::core::v1 as core;
use kube_endpoint_model::Part;
use kube_wire::{DecodeError, json};
use serde::Deserialize;

/// Why a Pod is not ready: its phase, readiness gates and containers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PodDetails {
    /// `status.phase`, with `status.reason` if there is one, such as `Failed (Evicted)`.
    pub phase: String,
    /// Why the Pod is not scheduled: the message of the condition `PodScheduled`, if that is `False`.
    pub unscheduled: Option<String>,
    /// Readiness gates whose condition is not `True`, with its status; `None` if the Pod has no such condition.
    pub pending_gates: Vec<(String, Option<String>)>,
    /// Containers that are not ready, sidecars included, with the reason of their state, such as `CrashLoopBackOff`.
    pub unready_containers: Vec<(String, Option<String>)>,
}

/// The fields of a Pod that are read; named as in JSON.
#[derive(Deserialize)]
struct Document {
    spec: Option<Spec>,
    status: Option<core::PodStatus>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Spec {
    init_containers: Option<Vec<InitContainer>>,
    readiness_gates: Option<Vec<core::PodReadinessGate>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitContainer {
    name: String,
    restart_policy: Option<String>,
}

/// The details as a further part of a Pod. It is only read from JSON.
impl Part for PodDetails {
    const READS_MANAGED_FIELDS: bool = false;

    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        let Document { spec, status } = json::from_slice_with_times(kind, bytes)?;
        let Some(status) = status else { return Ok(PodDetails::default()) };
        let Spec { init_containers, readiness_gates } = spec.unwrap_or_default();
        let condition = |kind: &str| status.conditions.iter().flatten().find(|it| it.type_ == kind);
        // The kubelet counts sidecars in the condition `ContainersReady` (`GenerateContainersReadyCondition`).
        let is_sidecar = |it: &&core::ContainerStatus| {
            let mut sidecars =
                init_containers.iter().flatten().filter(|it| it.restart_policy.as_deref() == Some("Always"));
            sidecars.any(|sidecar| sidecar.name == it.name)
        };
        let sidecars = status.init_container_statuses.iter().flatten().filter(is_sidecar);
        let containers = sidecars.chain(status.container_statuses.iter().flatten());
        let gates =
            readiness_gates.iter().flatten().map(|gate| (&gate.condition_type, condition(&gate.condition_type)));
        let phase = status.phase.clone().unwrap_or_default();
        Ok(PodDetails {
            phase: match &status.reason {
                Some(reason) if !reason.is_empty() => format!("{phase} ({reason})"),
                _ => phase,
            },
            unscheduled: condition("PodScheduled")
                .filter(|it| it.status == "False")
                .map(|it| one_line(it.message.as_deref().unwrap_or_default())),
            pending_gates: gates
                .filter(|(_, condition)| condition.is_none_or(|it| it.status != "True"))
                .map(|(gate, condition)| (gate.clone(), condition.map(|it| it.status.clone())))
                .collect(),
            unready_containers: containers
                .filter(|container| !container.ready)
                .map(|container| (container.name.clone(), container.state.as_ref().and_then(state_reason)))
                .collect(),
        })
    }
}

fn state_reason(state: &core::ContainerState) -> Option<String> {
    let waiting = state.waiting.as_ref().and_then(|it| it.reason.clone());
    waiting.or_else(|| state.terminated.as_ref().and_then(|it| it.reason.clone()))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl PodDetails {
    /// Returns why the Pod is not ready; `None` if the details do not show it.
    pub(crate) fn not_ready(&self) -> Option<String> {
        let containers = self.unready_containers.iter().map(|(name, reason)| match reason {
            Some(reason) => format!("container {name:?} is not ready ({reason})"),
            None => format!("container {name:?} is not ready"),
        });
        let gates = self.pending_gates.iter().map(|(gate, status)| match status {
            Some(status) => format!("readiness gate {gate:?} is {status}"),
            None => format!("readiness gate {gate:?} has no condition"),
        });
        let mut causes: Vec<String> = gates.chain(containers).collect();
        if !self.pending_gates.is_empty() && self.unready_containers.is_empty() {
            causes.push("all containers are ready".to_owned());
        }
        (!causes.is_empty()).then(|| causes.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn not_ready(pod: &Value) -> Option<String> {
        PodDetails::from_json("Pod", pod.to_string().as_bytes()).unwrap().not_ready()
    }

    /// The kubelet counts init containers with the restart policy `Always`, sidecars, in the condition `ContainersReady`.
    #[rstest]
    #[case::containers(json!([]), "container \"main\" is not ready")]
    #[case::sidecar(
        json!([{"name": "proxy", "restartPolicy": "Always"}]),
        "container \"proxy\" is not ready (CrashLoopBackOff), container \"main\" is not ready"
    )]
    #[case::other_init_container(json!([{"name": "proxy"}]), "container \"main\" is not ready")]
    fn sidecars_count_as_containers(#[case] init_containers: Value, #[case] expected: &str) {
        let status = |name: &str, state: Value| json!({"name": name, "ready": false, "state": state, "image": "", "imageID": "", "restartCount": 0});
        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        let pod = json!({
            "metadata": {},
            "spec": {"containers": [{"name": "main"}], "initContainers": init_containers},
            "status": {
                "containerStatuses": [status("main", json!({}))],
                "initContainerStatuses": [status("proxy", waiting)],
            },
        });
        assert_eq!(not_ready(&pod).as_deref(), Some(expected));
    }

    #[test]
    fn a_sidecar_that_is_not_ready_is_no_ready_container() {
        let pod = json!({
            "metadata": {},
            "spec": {
                "containers": [],
                "initContainers": [{"name": "proxy", "restartPolicy": "Always"}],
                "readinessGates": [{"conditionType": "lb/attached"}],
            },
            "status": {"initContainerStatuses": [
                {"name": "proxy", "ready": false, "image": "", "imageID": "", "restartCount": 0},
            ]},
        });
        let expected = "readiness gate \"lb/attached\" has no condition, container \"proxy\" is not ready";
        assert_eq!(not_ready(&pod).as_deref(), Some(expected));
    }
}
