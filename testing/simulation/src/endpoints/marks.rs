//! Marks that a history sets on objects, by which the oracle recognizes changes that no sync reverts.

use serde_json::Value;

use super::object::{ZONE, label};

/// Label on Endpoints that the user has written. The Endpoints controller replaces all labels when it writes the
/// object, so the label exists exactly until then. Upstream does not watch updates of Endpoints (EP-H5).
pub(super) const EDITED: &str = "example.com/edited";

/// Prefix of annotations on a Node, one for each zone that the Node has or has had. The suffix is the zone, or `none`.
/// Upstream does not sync a Service when a Node appears or changes its zone (ES-H8 to ES-H10), so its slices may
/// contain any of these zones.
pub(super) const FORMER_ZONE: &str = "example.com/zone.";

/// Returns the annotation key for a zone that a Node has or has had.
pub(super) fn former_zone(zone: Option<&str>) -> String {
    format!("{FORMER_ZONE}{}", zone.unwrap_or("none"))
}

/// Returns the zones that endpoints on a Node may have; `None` is no zone.
pub(super) fn zones(node: &Value) -> Vec<Option<String>> {
    let now = label(node, ZONE).filter(|zone| !zone.is_empty());
    let annotations = node["metadata"]["annotations"].as_object().into_iter().flatten();
    let former = annotations.filter_map(|(key, _)| key.strip_prefix(FORMER_ZONE));
    let former = former.map(|zone| (zone != "none").then_some(zone));
    [now].into_iter().chain(former).map(|zone| zone.map(str::to_owned)).collect()
}
