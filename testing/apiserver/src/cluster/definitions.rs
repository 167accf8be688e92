//! Custom kinds, added and removed while the server runs.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize as _;

use super::collection::Collection;
use super::{Cluster, Stored};
use crate::custom_kind::CustomKind;
use crate::kinds::Kind;

impl Cluster {
    /// Serves a custom kind, or changes its names, schema and columns. Built-in kinds cannot be redefined.
    pub(crate) fn define(&mut self, definition: &CustomKind) {
        let found = self.kinds.find(&definition.group, &definition.version, &definition.names.plural);
        let index = match found {
            Some(found) if !found.is_custom() => return,
            Some(found) => found.index,
            None => {
                self.collections.push(Collection::default());
                self.collections.len() - 1
            }
        };
        self.kinds.put(Kind::custom(index, definition));
    }

    /// Serves the kind of a stored `CustomResourceDefinition`.
    pub(super) fn definition_changed(&mut self, stored: &Stored) {
        if let Some(kind) = decode(stored) {
            self.define(&kind);
        } else {
            tracing::warn!(name = %stored.name, "definition ignored: no version is both served and stored");
        }
    }

    /// Removes the kind of a deleted `CustomResourceDefinition` and all its objects, whatever their finalizers.
    pub(super) fn definition_removed(&mut self, stored: &Stored) {
        let Some(definition) = decode(stored) else { return };
        let found = self.kinds.find(&definition.group, &definition.version, &definition.names.plural);
        let Some(kind) = found.filter(|kind| kind.is_custom()).cloned() else { return };
        for object in self.list(&kind, None) {
            self.remove(&kind, &object);
        }
        self.kinds.remove(kind.index);
    }
}

fn decode(stored: &Stored) -> Option<CustomKind> {
    let definition = CustomResourceDefinition::deserialize(&stored.value()).ok()?;
    CustomKind::from_definition(&definition)
}
