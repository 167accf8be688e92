//! Patches whose outcome is certain without the answer of the server.
//!
//! Policies often log the status that a kubelet writes without the answer: a strategic merge patch of a Pod or Node.

use std::sync::Arc;

use kube_endpoint_model::{Node, Pod, Text, well_known};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::content::{RestartPolicy, Traits};
use crate::{Kind, Recorded};

/// A JSON merge patch or strategic merge patch, as far as it concerns the recorded fields.
#[derive(Debug)]
pub(super) enum Patch {
    /// It changes none of them.
    Nothing,
    Pod(Box<PodPatch>),
    Node(NodePatch),
}

#[derive(Debug, Default)]
pub(super) struct PodPatch {
    labels: Vec<(String, Option<String>)>,
    phase: Option<String>,
    /// What the patch sets, as a Pod.
    values: Pod,
    has_ip: bool,
    has_ips: bool,
    ready: Option<bool>,
    has_ready_changed: bool,
}

#[derive(Debug, Default)]
pub(super) struct NodePatch {
    zone: Option<Text>,
    control_plane: Option<bool>,
    ready: Option<bool>,
    cpu_milli: Option<i64>,
}

impl Patch {
    /// Parses a patch of an object or of its status; `None` if its outcome depends on more than the patch.
    pub(super) fn parse(kind: Kind, subresource: &str, raw: &RawValue) -> Option<Patch> {
        let value: Value = serde_json::from_str(raw.get()).ok()?;
        // An array is a JSON patch.
        let document = value.as_object()?;
        // Only documents of server-side apply have a kind. Fields that are missing in it may have been removed.
        if document.contains_key("kind") || has_directive(document) {
            return None;
        }
        let labels = labels(document)?;
        let status = match (subresource, document.get("status")) {
            // Without the subresource, the server ignores the status.
            ("status", Some(Value::Object(status))) => Some(status),
            ("status", Some(_)) => return None,
            _ => None,
        };
        if status.is_some_and(has_directive) {
            return None;
        }
        match kind {
            Kind::Pod => PodPatch::parse(labels, status, raw).map(|patch| Patch::Pod(Box::new(patch))),
            Kind::Node => NodePatch::parse(&labels, status, raw).map(Patch::Node),
            Kind::Service if subresource == "status" && labels.is_empty() => Some(Patch::Nothing),
            Kind::Service | Kind::Endpoints | Kind::EndpointSlice => None,
        }
    }

    /// Returns the object after the patch; `None` if that is not certain.
    pub(super) fn apply(&self, before: &Recorded, traits: Traits) -> Option<Recorded> {
        match (self, before) {
            (Patch::Nothing, before) => Some(before.clone()),
            (Patch::Pod(patch), Recorded::Pod(pod)) => patch.apply(pod, traits).map(|pod| Arc::new(pod).into()),
            (Patch::Node(patch), Recorded::Node(node)) => Some(Arc::new(patch.apply(node)).into()),
            _ => None,
        }
    }
}

/// Returns whether an object of a patch is replaced or deleted by a directive, in place of being merged.
fn has_directive(object: &Map<String, Value>) -> bool {
    object.contains_key("$patch") || object.contains_key("$retainKeys")
}

/// Returns the labels that a patch sets or removes; `None` if it may do more to the metadata.
fn labels(document: &Map<String, Value>) -> Option<Vec<(String, Option<String>)>> {
    let metadata = match document.get("metadata") {
        None => return Some(Vec::new()),
        Some(Value::Object(metadata)) if !has_directive(metadata) => metadata,
        Some(_) => return None,
    };
    // Without its last finalizer, an object may be deleted.
    if metadata.keys().any(|key| key.contains("finalizers")) {
        return None;
    }
    let labels = match metadata.get("labels") {
        None => return Some(Vec::new()),
        Some(Value::Object(labels)) if !has_directive(labels) => labels,
        Some(_) => return None,
    };
    let changed = labels.iter().map(|(key, value)| match value {
        Value::Null => Some((key.clone(), None)),
        Value::String(value) => Some((key.clone(), Some(value.clone()))),
        _ => None,
    });
    changed.collect()
}

/// Returns the condition Ready of a patch. Fails if what happens to it is not certain.
fn ready(status: &Map<String, Value>) -> Result<Option<&Map<String, Value>>, ()> {
    let conditions = match status.get("conditions") {
        None => return Ok(None),
        Some(Value::Array(conditions)) => conditions,
        Some(_) => return Err(()),
    };
    let mut ready = None;
    for condition in conditions {
        let condition = condition.as_object().filter(|it| !has_directive(it)).ok_or(())?;
        if condition.get("type").and_then(Value::as_str).ok_or(())? == "Ready" {
            ready = ready.or(Some(condition));
        }
    }
    // A JSON merge patch replaces the list.
    let is_strategic = status.contains_key("$setElementOrder/conditions");
    if ready.is_some() || is_strategic { Ok(ready) } else { Err(()) }
}

/// Returns a string that is there; an error for something else.
fn string<'a>(object: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, ()> {
    match object.get(key) {
        None => Ok(None),
        Some(Value::Null) => Ok(Some("")),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(()),
    }
}

impl PodPatch {
    fn parse(
        labels: Vec<(String, Option<String>)>,
        status: Option<&Map<String, Value>>,
        raw: &RawValue,
    ) -> Option<PodPatch> {
        let mut patch = PodPatch { labels, ..PodPatch::default() };
        let Some(status) = status else { return Some(patch) };
        patch.phase = string(status, "phase").ok()?.map(str::to_owned);
        (patch.has_ip, patch.has_ips) = (status.contains_key("podIP"), status.contains_key("podIPs"));
        if let Some(ready) = ready(status).ok()? {
            patch.ready = string(ready, "status").ok()?.map(|status| status == "True");
            string(ready, "lastTransitionTime").ok()?;
            patch.has_ready_changed = ready.contains_key("lastTransitionTime");
        }
        let ips = status.get("podIPs").and_then(Value::as_array).into_iter().flatten();
        if ips.filter_map(Value::as_object).any(has_directive) {
            return None;
        }
        patch.values = serde_json::from_str(raw.get()).ok()?;
        Some(patch)
    }

    fn apply(&self, before: &Pod, traits: Traits) -> Option<Pod> {
        let mut pod = before.clone();
        if !self.labels.is_empty() {
            let kept = pod.labels.without(|key| self.labels.iter().any(|(changed, _)| changed == key));
            let set = self.labels.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_deref()?)));
            pod.labels = kept.with(set);
        }
        if let Some(phase) = &self.phase {
            let has_succeeded = phase == "Succeeded";
            pod.finished = has_succeeded || phase == "Failed";
            pod.excluded_by_restart_policy = match traits.restart {
                RestartPolicy::Always => false,
                RestartPolicy::OnFailure => has_succeeded,
                RestartPolicy::Never => pod.finished,
            };
        }
        if self.has_ip {
            pod.pod_ip_family = self.values.pod_ip_family;
        }
        if self.has_ips {
            // Strategic merge patches add to the list, by address.
            let is_replaced = before.pod_ips.iter().all(|ip| self.values.pod_ips.contains(ip));
            pod.pod_ips = is_replaced.then(|| self.values.pod_ips.clone())?;
        }
        if let Some(ready) = self.ready {
            pod.ready = ready;
        }
        if self.has_ready_changed {
            pod.ready_changed = self.values.ready_changed;
        }
        Some(pod)
    }
}

impl NodePatch {
    fn parse(
        labels: &[(String, Option<String>)],
        status: Option<&Map<String, Value>>,
        raw: &RawValue,
    ) -> Option<NodePatch> {
        let mut patch = NodePatch::default();
        for (key, value) in labels {
            match (key.as_str(), value) {
                (well_known::ZONE_LABEL, value) => patch.zone = Some(value.as_deref().unwrap_or_default().into()),
                (well_known::CONTROL_PLANE_LABEL | well_known::MASTER_LABEL, Some(_)) => {
                    patch.control_plane = Some(true);
                }
                // The Node may have the other label.
                (well_known::CONTROL_PLANE_LABEL | well_known::MASTER_LABEL, None) => return None,
                _ => {}
            }
        }
        let Some(status) = status else { return Some(patch) };
        if let Some(ready) = ready(status).ok()? {
            patch.ready = string(ready, "status").ok()?.map(|status| status == "True");
        }
        match status.get("allocatable") {
            None => {}
            Some(Value::Object(allocatable)) if has_directive(allocatable) => return None,
            Some(Value::Object(allocatable)) if !allocatable.contains_key("cpu") => {}
            Some(Value::Object(_)) => {
                patch.cpu_milli = Some(serde_json::from_str::<Node>(raw.get()).ok()?.cpu_milli);
            }
            Some(_) => return None,
        }
        Some(patch)
    }

    fn apply(&self, before: &Node) -> Node {
        Node {
            zone: self.zone.clone().unwrap_or_else(|| before.zone.clone()),
            control_plane: self.control_plane.unwrap_or(before.control_plane),
            ready: self.ready.unwrap_or(before.ready),
            cpu_milli: self.cpu_milli.unwrap_or(before.cpu_milli),
            ..before.clone()
        }
    }
}
