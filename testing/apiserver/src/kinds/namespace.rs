//! `v1` Namespace.

use k8s_openapi::api::core::v1::{Namespace, NamespaceStatus};
use serde_json::{Map, Value};

use super::{Resource, shape};
use crate::names::NameRule;

/// Label with the name of the namespace, for namespace selectors.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// Entry of `spec.finalizers` that keeps a deleted namespace until its content is removed.
pub(crate) const FINALIZER: &str = "kubernetes";

impl Resource for Namespace {
    const NAME_RULE: NameRule = NameRule::Label;
    const SELECTABLE: &'static [&'static str] = &["status.phase"];

    fn apply_defaults(&mut self) {
        if let Some(name) = self.metadata.name.clone() {
            self.metadata.labels.get_or_insert_default().insert(NAME_LABEL.to_owned(), name);
        }
    }

    fn prepare_create(&mut self) {
        self.status = Some(NamespaceStatus { phase: Some("Active".to_owned()), ..NamespaceStatus::default() });
        let finalizers = self.spec.get_or_insert_default().finalizers.get_or_insert_default();
        if !finalizers.iter().any(|it| it == FINALIZER) {
            finalizers.push(FINALIZER.to_owned());
        }
    }

    fn prepare_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
        self.status.clone_from(&old.status);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::section(object, "spec");
        shape::section(object, "status");
    }
}
