//! `v1` Secret.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Map, Value};

use super::Resource;
use crate::field::FieldErrors;
use crate::names::check_data_key;

/// Maximum size of all values of a Secret or `ConfigMap` in bytes (Go: `MaxSecretSize`).
pub(super) const MAX_SIZE: usize = 1024 * 1024;
const SERVICE_ACCOUNT: &str = "kubernetes.io/service-account.name";

impl Resource for Secret {
    const SELECTABLE: &'static [&'static str] = &["type"];

    fn apply_defaults(&mut self) {
        if self.type_.as_deref().is_none_or(str::is_empty) {
            self.type_ = Some("Opaque".to_owned());
        }
        // As upstream, `stringData` is written only: it overwrites `data`.
        for (key, text) in self.string_data.take().into_iter().flatten() {
            self.data.get_or_insert_default().insert(key, ByteString(text.into_bytes()));
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let empty = BTreeMap::new();
        let data = self.data.as_ref().unwrap_or(&empty);
        for key in data.keys() {
            check_data_key(&format!("data[{key}]"), key, errors);
        }
        if data.values().map(|value| value.0.len()).sum::<usize>() > MAX_SIZE {
            errors.too_long("data", MAX_SIZE);
        }
        validate_type(self, data, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.type_ != old.type_ {
            errors.invalid("type", self.type_.as_deref().unwrap_or_default(), "field is immutable");
        }
        if old.immutable == Some(true) {
            check_frozen("immutable", self.immutable == Some(true), errors);
            let stored = |secret: &Self| secret.data.clone().unwrap_or_default();
            check_frozen("data", stored(self) == stored(old), errors);
        }
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        self.type_.iter().map(|name| ("type", name.clone())).collect()
    }
}

/// Reports a changed field of an immutable Secret or `ConfigMap`.
pub(super) fn check_frozen(field: &str, is_same: bool, errors: &mut FieldErrors) {
    if !is_same {
        errors.forbidden(field, "field is immutable when `immutable` is set");
    }
}

/// Reports what is missing for the type of a secret.
fn validate_type(secret: &Secret, data: &BTreeMap<String, ByteString>, errors: &mut FieldErrors) {
    let mut require = |key: &str| {
        if !data.contains_key(key) {
            errors.required(format!("data[{key}]"), "");
        }
    };
    match secret.type_.as_deref().unwrap_or_default() {
        "kubernetes.io/service-account-token" => {
            let account = secret.metadata.annotations.as_ref().and_then(|it| it.get(SERVICE_ACCOUNT));
            if account.is_none_or(String::is_empty) {
                errors.required(format!("metadata.annotations[{SERVICE_ACCOUNT}]"), "");
            }
        }
        "kubernetes.io/dockercfg" => validate_json(".dockercfg", data, errors),
        "kubernetes.io/dockerconfigjson" => validate_json(".dockerconfigjson", data, errors),
        "kubernetes.io/basic-auth" if !data.contains_key("username") && !data.contains_key("password") => {
            require("username");
            require("password");
        }
        "kubernetes.io/ssh-auth" => require("ssh-privatekey"),
        "kubernetes.io/tls" => {
            require("tls.crt");
            require("tls.key");
        }
        _ => {}
    }
}

/// Reports a value that is absent or not a JSON object. The value itself is not printed.
fn validate_json(key: &str, data: &BTreeMap<String, ByteString>, errors: &mut FieldErrors) {
    let field = format!("data[{key}]");
    match data.get(key).map(|value| serde_json::from_slice::<Map<String, Value>>(&value.0)) {
        None => errors.required(field, ""),
        Some(Err(error)) => errors.invalid(field, "<secret contents redacted>", error),
        Some(Ok(_)) => {}
    }
}
