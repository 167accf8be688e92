//! `v1` `ConfigMap`.

use k8s_openapi::api::core::v1::ConfigMap;

use super::Resource;
use super::secret::{MAX_SIZE, check_frozen};
use crate::field::FieldErrors;
use crate::names::check_data_key;

impl Resource for ConfigMap {
    /// As upstream's `ValidateConfigMap`.
    fn validate(&self, errors: &mut FieldErrors) {
        let mut size = 0;
        for (key, value) in self.data.iter().flatten() {
            let field = format!("data[{key}]");
            check_data_key(&field, key, errors);
            if self.binary_data.as_ref().is_some_and(|binary| binary.contains_key(key)) {
                errors.invalid(field, key, "duplicate of key present in binaryData");
            }
            size += value.len();
        }
        for (key, value) in self.binary_data.iter().flatten() {
            check_data_key(&format!("binaryData[{key}]"), key, errors);
            size += value.0.len();
        }
        if size > MAX_SIZE {
            // Go formats the empty path, which names the whole object, like this.
            errors.too_long("[]", MAX_SIZE);
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if old.immutable == Some(true) {
            check_frozen("immutable", self.immutable == Some(true), errors);
            check_frozen("data", self.data == old.data, errors);
            check_frozen("binaryData", self.binary_data == old.binary_data, errors);
        }
    }
}
