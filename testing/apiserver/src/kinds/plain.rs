//! Kinds without rules of their own.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::events::v1::Event;

use super::Resource;
use crate::names::NameRule;

impl Resource for ConfigMap {}
impl Resource for Lease {}
impl Resource for ServiceAccount {}

/// The recorder of `kube` writes these. Unlike upstream, they are not the same objects as those of `v1`.
impl Resource for Event {
    const NAME_RULE: NameRule = NameRule::PathSegment;
}
