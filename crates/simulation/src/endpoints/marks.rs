//! What the user of a history notes on objects, so that the oracle can tell what nothing reverts.

use serde_json::Value;

use super::object::{ZONE, label};

/// Label on Endpoints that the user has written. The Endpoints controller replaces all labels when it writes the object,
/// so the label is there exactly until then. Upstream does not watch updates of Endpoints (EP-H5).
pub(super) const EDITED: &str = "example.com/edited";

/// Prefix of annotations on Nodes: a zone that the Node has or has had; with nothing behind it, no zone at all. Upstream
/// does not sync a Service when a Node appears or changes its zone (ES-H8 to ES-H10), so its slices may show either.
pub(super) const FORMER_ZONE: &str = "example.com/zone.";

/// Annotation key that says that a Node has or has had this zone.
pub(super) fn former_zone(zone: Option<&str>) -> String {
    format!("{FORMER_ZONE}{}", zone.unwrap_or("none"))
}

/// The zones that endpoints on a Node may show; `None` is no zone.
pub(super) fn zones(node: &Value) -> Vec<Option<String>> {
    let now = label(node, ZONE).filter(|zone| !zone.is_empty());
    let annotations = node["metadata"]["annotations"].as_object().into_iter().flatten();
    let former = annotations.filter_map(|(key, _)| key.strip_prefix(FORMER_ZONE));
    let former = former.map(|zone| (zone != "none").then_some(zone));
    [now].into_iter().chain(former).map(|zone| zone.map(str::to_owned)).collect()
}
