//! `apiextensions.k8s.io/v1` `CustomResourceDefinition`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionStatus,
};

use super::resource::or;
use super::{Resource, metadata};
use crate::field::FieldErrors;

impl Resource for CustomResourceDefinition {
    fn apply_defaults(&mut self) {
        let names = &mut self.spec.names;
        or(&mut names.singular, &names.kind.to_lowercase());
        or(&mut names.list_kind, &format!("{}List", names.kind));
    }

    /// Sets the conditions to `True` at once: the kind is served as soon as its definition is stored.
    fn prepare_create(&mut self) {
        self.metadata.generation = Some(1);
        let condition = |type_: &str, reason: &str, message: &str| CustomResourceDefinitionCondition {
            type_: type_.to_owned(),
            status: "True".to_owned(),
            reason: Some(reason.to_owned()),
            message: Some(message.to_owned()),
            ..CustomResourceDefinitionCondition::default()
        };
        let stored = self.spec.versions.iter().filter(|version| version.storage).map(|version| version.name.clone());
        self.status = Some(CustomResourceDefinitionStatus {
            accepted_names: Some(self.spec.names.clone()),
            conditions: Some(vec![
                condition("NamesAccepted", "NoConflicts", "no conflicts found"),
                condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            ]),
            stored_versions: Some(stored.collect()),
            ..CustomResourceDefinitionStatus::default()
        });
    }

    fn prepare_update(&mut self, old: &Self) {
        self.status.clone_from(&old.status);
        metadata::count_generation(&mut self.metadata, &old.metadata, self.spec != old.spec);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let spec = &self.spec;
        let expected = format!("{}.{}", spec.names.plural, spec.group);
        let name = self.metadata.name.as_deref().unwrap_or_default();
        if name != expected {
            errors.invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
        }
        if !["Cluster", "Namespaced"].contains(&spec.scope.as_str()) {
            errors.unsupported("spec.scope", &spec.scope, &["Cluster", "Namespaced"]);
        }
        if spec.versions.iter().filter(|version| version.storage).count() != 1 {
            errors.invalid(
                "spec.versions",
                spec.versions.len().to_string(),
                "must have exactly one version marked as storage version",
            );
        }
    }
}
