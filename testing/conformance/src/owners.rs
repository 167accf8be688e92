//! Names of owners by uid.

use std::collections::HashMap;

use serde_json::Value;

use crate::Kind;

/// Names of all owners that existed at a settled point of a scenario, by uid.
///
/// An unknown uid belongs to an object that was created and deleted within one step; references to it depend on timing.
#[derive(Debug, Clone, Default)]
pub struct Owners {
    names: HashMap<String, String>,
}

impl Owners {
    /// Records the objects of a kind that exist now.
    pub fn observe(&mut self, kind: Kind, objects: &[Value]) {
        for metadata in objects.iter().map(|object| &object["metadata"]) {
            if let (Some(uid), Some(name)) = (metadata["uid"].as_str(), metadata["name"].as_str()) {
                self.names.insert(uid.to_owned(), format!("{kind:?}/{name}"));
            }
        }
    }

    /// Returns `Kind/name` of an owner, or `<gone>` if its uid is unknown.
    pub fn name(&self, uid: &str) -> &str {
        self.names.get(uid).map_or("<gone>", String::as_str)
    }
}
