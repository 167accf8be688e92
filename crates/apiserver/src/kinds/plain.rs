//! Kinds without defaults and status: `ConfigMap` and `ServiceAccount`.

use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::Resource;
use crate::field::FieldErrors;

impl Resource for ConfigMap {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if old.immutable != Some(true) {
            return;
        }
        let detail = "field is immutable when `immutable` is set";
        if self.immutable != Some(true) {
            errors.forbidden("immutable", detail);
        }
        if self.data != old.data {
            errors.forbidden("data", detail);
        }
        if self.binary_data != old.binary_data {
            errors.forbidden("binaryData", detail);
        }
    }
}

impl Resource for ServiceAccount {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
