//! Recordings of a real cluster as histories.

use std::time::Duration;

use http::Method;
use kube_endpoints_conformance::{Kind, Recording, Request, Unnoticed};
use serde_json::{Value, json};

use crate::script::{Operation, Step};

/// Recorded scenario as a history.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the file and of the scenario, such as `core/rolling-update`.
    pub name: String,
    /// Writes that create the Nodes and the namespace.
    pub setup: Vec<Operation>,
    /// The recorded operations.
    pub steps: Vec<Step>,
    /// Why the final state differs from what the controllers would create from scratch, if it does. See [`Unnoticed`].
    pub unnoticed: Option<&'static str>,
}

const NAMESPACE: &str = "recorded";
/// Time between two steps of a recording. The recorded cluster settled after each step.
const PAUSE: Duration = Duration::from_secs(3);

/// Returns the scenarios of the recordings that are part of `kube-endpoints-conformance`.
///
/// # Errors
///
/// None in practice, since a test of that crate parses them all.
pub fn builtin() -> std::io::Result<Vec<Scenario>> {
    Recording::builtin().map(scenarios).map_err(std::io::Error::other)
}

fn scenarios(recordings: Vec<(String, Recording)>) -> Vec<Scenario> {
    let slice = |service: &str, managed_by: &str, address_type: &str| {
        Some(Kind::EndpointSlice.object(NAMESPACE, &format!("{service}*{managed_by}*{address_type}")))
    };
    let mut scenarios = Vec::new();
    for (file, recording) in recordings {
        let mut setup: Vec<_> = recording.nodes.iter().flat_map(|node| node.requests("")).map(operation).collect();
        setup.push(Operation::Create {
            path: "/api/v1/namespaces".to_owned(),
            object: json!({ "metadata": { "name": NAMESPACE } }),
        });
        for scenario in recording.scenarios {
            let name = format!("{file}/{}", scenario.name);
            let last = scenario.steps.len();
            let unnoticed = Unnoticed::of(&name).filter(|it| it.steps.contains(&last)).map(|it| it.reason);
            let mut steps = Vec::new();
            for step in scenario.steps {
                let mut after = PAUSE;
                for request in step.operations.iter().flat_map(|it| it.requests(NAMESPACE, slice)) {
                    steps.push(Step { after: std::mem::take(&mut after), operation: operation(request) });
                }
            }
            scenarios.push(Scenario { name, setup: setup.clone(), steps, unnoticed });
        }
    }
    scenarios
}

fn operation(Request { method, path, body }: Request) -> Operation {
    let body = body.map_or(Value::Null, |(_, body)| body);
    match method {
        Method::POST => Operation::Create { path, object: body },
        Method::PATCH => Operation::Patch { path, patch: body },
        _ => Operation::Delete { path, options: body },
    }
}

/// Returns the path of the slice that a path such as `…/endpointslices/web*endpointslice-controller.k8s.io*IPv4` refers
/// to: the one with the most endpoints of that Service, manager and address type; of several, the first by name.
pub(super) fn resolve(path: &str, slices: &[Value]) -> Option<String> {
    let (collection, place) = path.rsplit_once('/')?;
    let mut parts = place.split('*');
    let (service, managed_by, address_type) = (parts.next()?, parts.next()?, parts.next()?);
    let is_meant = |slice: &&Value| {
        let labels = &slice["metadata"]["labels"];
        labels["kubernetes.io/service-name"] == service
            && labels["endpointslice.kubernetes.io/managed-by"] == managed_by
            && slice["addressType"] == address_type
    };
    let size = |slice: &&Value| slice["endpoints"].as_array().map_or(0, Vec::len);
    // `max_by_key` returns the last maximum, and slices are sorted by name.
    let slice = slices.iter().rev().filter(is_meant).max_by_key(size)?;
    Some(format!("{collection}/{}", slice["metadata"]["name"].as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_found_by_service_manager_and_family() {
        let slice = |name: &str, family: &str, endpoints: Value| {
            json!({
                "metadata": { "name": name, "labels": {
                    "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "me",
                } },
                "addressType": family,
                "endpoints": endpoints,
            })
        };
        let slices =
            [slice("a", "IPv4", json!([1])), slice("b", "IPv4", json!([1, 2])), slice("c", "IPv6", json!([1, 2, 3]))];
        assert_eq!(resolve("/x/endpointslices/web*me*IPv4", &slices).as_deref(), Some("/x/endpointslices/b"));
        assert_eq!(resolve("/x/endpointslices/web*you*IPv4", &slices), None);
    }
}
