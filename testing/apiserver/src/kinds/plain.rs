//! Kinds without rules of their own: `ServiceAccount`.

use k8s_openapi::api::core::v1::ServiceAccount;

use super::Resource;

impl Resource for ServiceAccount {}
