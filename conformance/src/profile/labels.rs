//! Labels of slices: those of a profile, and those of Kubernetes that recordings contain.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Output, Profile};
use crate::{Manifest, Operation};

/// Key of the label with the name of the Service in Kubernetes.
pub const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";
/// Key of the label with the name of the controller that manages a slice.
pub const MANAGED_BY_LABEL: &str = "endpointslice.kubernetes.io/managed-by";

/// Managed-by values of Kubernetes' controllers.
const MANAGERS: [(Output, &str); 2] = [
    (Output::ServiceSlices, "endpointslice-controller.k8s.io"),
    (Output::MirroredSlices, "endpointslicemirroring-controller.k8s.io"),
];

/// Returns the managed-by value of Kubernetes' controller for an output; empty for Endpoints.
pub(crate) fn upstream_manager(output: Output) -> &'static str {
    MANAGERS.iter().find(|(it, _)| *it == output).map_or("", |(_, value)| value)
}

/// Returns the output whose slices have this managed-by value in Kubernetes.
pub(crate) fn output_of(upstream_manager: &str) -> Option<Output> {
    MANAGERS.iter().find(|(_, value)| *value == upstream_manager).map(|(output, _)| *output)
}

impl Profile {
    /// Returns the managed-by value of the slices of an output; empty for Endpoints.
    pub fn managed_by(&self, output: Output) -> &str {
        let own = self.slice_labels(output).and_then(|labels| labels.managed_by.as_deref());
        own.unwrap_or_else(|| upstream_manager(output))
    }

    /// Returns the key of the label with the name of the Service on the slices of an output.
    pub fn service_label(&self, output: Output) -> &str {
        let own = self.slice_labels(output).and_then(|labels| labels.service_label.as_deref());
        own.unwrap_or(SERVICE_NAME_LABEL)
    }

    /// Replaces the labels of the controller on a slice by those of Kubernetes, for a comparison.
    pub fn to_upstream(&self, slice: &mut Value) {
        let Some(labels) = labels_of(slice) else { return };
        for (output, upstream) in MANAGERS.into_iter().filter(|(output, _)| self.claims(*output)) {
            rename_key(labels, self.service_label(output), SERVICE_NAME_LABEL);
            if labels.get(MANAGED_BY_LABEL).is_some_and(|it| it == self.managed_by(output)) {
                labels.insert(MANAGED_BY_LABEL.to_owned(), upstream.into());
            }
        }
    }

    /// Returns whether a slice, with the labels of [`to_upstream`](Self::to_upstream), is managed by a controller of
    /// Kubernetes whose output the profile does not claim.
    pub fn is_foreign(&self, slice: &Value) -> bool {
        let manager = slice["labels"][MANAGED_BY_LABEL].as_str();
        let manager = manager.or_else(|| slice["metadata"]["labels"][MANAGED_BY_LABEL].as_str());
        manager.and_then(output_of).is_some_and(|output| !self.claims(output))
    }

    /// Returns a recorded operation with the labels and patches of the profile.
    pub(crate) fn operation<'a>(&self, recorded: &'a Operation) -> Cow<'a, Operation> {
        let mut operation = recorded.clone();
        match &mut operation {
            Operation::Create { obj: Manifest { kind, body, .. } } => {
                self.translate(body, None);
                self.patch(*kind, body);
            }
            Operation::MergeSlice { managed_by, patch, .. } => {
                self.translate(patch, output_of(managed_by));
                self.rename_manager(managed_by);
            }
            Operation::DeleteSlice { managed_by, .. } => self.rename_manager(managed_by),
            Operation::Merge { .. } | Operation::Delete { .. } => {}
        }
        if operation == *recorded { Cow::Borrowed(recorded) } else { Cow::Owned(operation) }
    }

    /// Replaces the labels of Kubernetes on an object or in a patch of it by those of the controller. `output` is that
    /// of the patched slice; without it, it follows from the managed-by label.
    fn translate(&self, object: &mut Value, output: Option<Output>) {
        let Some(labels) = labels_of(object) else { return };
        let by_label = labels.get(MANAGED_BY_LABEL).and_then(Value::as_str).and_then(output_of);
        if let Some(output) = by_label.filter(|it| self.claims(*it)) {
            labels.insert(MANAGED_BY_LABEL.to_owned(), self.managed_by(output).into());
        }
        if let Some(output) = by_label.or(output).filter(|it| self.claims(*it)) {
            rename_key(labels, SERVICE_NAME_LABEL, self.service_label(output));
        }
    }

    fn rename_manager(&self, manager: &mut String) {
        if let Some(output) = output_of(manager).filter(|it| self.claims(*it)) {
            self.managed_by(output).clone_into(manager);
        }
    }

    /// Returns the key of the label with the name of the Service on slices with this managed-by value.
    pub(crate) fn service_label_for(&self, managed_by: &str) -> &str {
        let claimed = MANAGERS.into_iter().map(|(output, _)| output).filter(|it| self.claims(*it));
        let mut outputs = claimed.filter(|it| self.managed_by(*it) == managed_by);
        outputs.next().map_or(SERVICE_NAME_LABEL, |output| self.service_label(output))
    }
}

fn labels_of(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("labels")?.as_object_mut()
}

fn rename_key(labels: &mut Map<String, Value>, from: &str, to: &str) {
    if from != to
        && let Some(value) = labels.remove(from)
    {
        labels.insert(to.to_owned(), value);
    }
}
