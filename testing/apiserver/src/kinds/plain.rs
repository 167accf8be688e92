//! Kinds with few rules or none.

use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};

use super::Resource;
use super::resource::or;

impl Resource for ConfigMap {}
impl Resource for Lease {}
impl Resource for ServiceAccount {}

impl Resource for Secret {
    const SELECTABLE: &'static [&'static str] = &["type"];

    fn apply_defaults(&mut self) {
        or(&mut self.type_, "Opaque");
        // As upstream, `stringData` is written only: it overwrites `data`.
        for (key, text) in self.string_data.take().into_iter().flatten() {
            self.data.get_or_insert_default().insert(key, ByteString(text.into_bytes()));
        }
    }
}
