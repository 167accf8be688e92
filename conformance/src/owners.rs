//! Whose uid is whose.

use std::collections::HashMap;

use serde_json::Value;

use crate::Kind;

/// Every owner that existed at some settled point of a scenario, by uid.
///
/// A uid never seen there belongs to an object that came and went within a step: which one, only timing decides.
#[derive(Debug, Clone, Default)]
pub struct Owners {
    names: HashMap<String, String>,
}

impl Owners {
    /// Notes the objects that exist now.
    pub fn observe(&mut self, kind: Kind, objects: &[Value]) {
        for metadata in objects.iter().map(|object| &object["metadata"]) {
            if let (Some(uid), Some(name)) = (metadata["uid"].as_str(), metadata["name"].as_str()) {
                self.names.insert(uid.to_owned(), format!("{kind:?}/{name}"));
            }
        }
    }

    /// `Kind/name` of the owner, or `<gone>`.
    pub fn name(&self, uid: &str) -> &str {
        self.names.get(uid).map_or("<gone>", String::as_str)
    }
}
