//! Kinds without rules of their own.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};

use super::Resource;

impl Resource for ConfigMap {}
impl Resource for Lease {}
impl Resource for ServiceAccount {}
