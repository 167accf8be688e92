//! Labels of slices: those of a profile, and those of Kubernetes that recordings contain.

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

    /// Returns whether a slice of a cluster is managed by a controller of Kubernetes, and not by that under test.
    pub fn is_foreign(&self, slice: &Value) -> bool {
        let manager = slice["metadata"]["labels"][MANAGED_BY_LABEL].as_str();
        let is_other = |output| !self.claims(output) || self.managed_by(output) != upstream_manager(output);
        manager.and_then(output_of).is_some_and(is_other)
    }

    /// Returns whether a slice of a snapshot is of a controller of Kubernetes whose output the profile does not claim.
    /// In recordings, the slice controller has written those slices that it does not manage any longer.
    pub(super) fn is_unclaimed(&self, slice: &Value) -> bool {
        let manager = slice["labels"][MANAGED_BY_LABEL].as_str();
        !self.claims(manager.and_then(output_of).unwrap_or(Output::ServiceSlices))
    }

    /// Returns a recorded operation with the labels and patches of the profile.
    pub(crate) fn operation(&self, recorded: &Operation) -> Operation {
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
        operation
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

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn slice(key: &str, manager: &str) -> Value {
        json!({"metadata": {"name": "web-1", "labels": {key: "web", MANAGED_BY_LABEL: manager}}})
    }

    #[test]
    fn labels_of_the_controller_become_those_of_kubernetes() {
        let mut own = slice("example.com/service-name", "slices.example.com");
        Profile::find("own-label").unwrap().to_upstream(&mut own);
        assert_eq!(own, slice(SERVICE_NAME_LABEL, upstream_manager(Output::ServiceSlices)));
    }

    #[rstest]
    #[case::own("own-label", "slices.example.com", false)]
    #[case::of_kubernetes("own-label", "endpointslice-controller.k8s.io", true)]
    #[case::of_others("own-label", "others.example.com", false)]
    #[case::claimed("service-slices", "endpointslice-controller.k8s.io", false)]
    #[case::mirrored("service-slices", "endpointslicemirroring-controller.k8s.io", true)]
    fn foreign(#[case] profile: &str, #[case] manager: &str, #[case] expect: bool) {
        let profile = Profile::find(profile).unwrap();
        assert_eq!(profile.is_foreign(&slice(SERVICE_NAME_LABEL, manager)), expect);
    }

    #[test]
    fn operations_have_the_labels_and_patches_of_the_profile() {
        let profile = "{name: n, service-slices: {service-label: a/b, managed-by: c}, patches: {Service: {x: z}}}";
        let profile = Profile::parse(profile).unwrap();
        let translated = |operation: Value| {
            let operation: Operation = serde_json::from_value(operation).unwrap();
            profile.operation(&operation)
        };
        let create = |kind: &str, mut object: Value| {
            object["kind"] = json!(kind);
            json!({"op": "create", "obj": object})
        };
        let upstream = upstream_manager(Output::ServiceSlices);
        let Operation::Create { obj } = translated(create("EndpointSlice", slice(SERVICE_NAME_LABEL, upstream))) else {
            panic!("another operation")
        };
        assert_eq!(obj.body["metadata"], slice("a/b", "c")["metadata"]);
        let Operation::Create { obj } = translated(create("Service", json!({"metadata": {"name": "web"}}))) else {
            panic!("another operation")
        };
        assert_eq!(obj.body["x"], "z");
        let patch = json!({"metadata": {"labels": {MANAGED_BY_LABEL: "me", SERVICE_NAME_LABEL: null}}});
        let Operation::MergeSlice { managed_by, patch, .. } =
            translated(json!({"op": "merge-slice", "service": "web", "patch": patch}))
        else {
            panic!("another operation")
        };
        assert_eq!((managed_by.as_str(), profile.service_label_for(&managed_by)), ("c", "a/b"));
        assert_eq!(patch, json!({"metadata": {"labels": {MANAGED_BY_LABEL: "me", "a/b": null}}}));
    }
}
