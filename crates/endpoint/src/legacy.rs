//! Rules of the Endpoints controller in earlier Kubernetes versions, for manifests that depend on them.

use std::sync::Arc;

use kube_endpoint_model::membership::{self, PodReason};
use kube_endpoint_model::{Address, AddressError, Pod, Service, UnusableAddresses, parse_go_bool};

/// Rules of earlier Kubernetes versions that apply. By default none does, and Endpoints are as in Kubernetes 1.36.
///
/// Each is a deprecated feature gate of the program, off by default. They affect Endpoints only: EndpointSlices never
/// had these rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Legacy {
    /// `LegacyTolerateUnreadyEndpoints`, the rule before Kubernetes 1.24 (HI-1): a boolean in the annotation
    /// `service.alpha.kubernetes.io/tolerate-unready-endpoints` of a Service overrides `publishNotReadyAddresses`. Any
    /// other value is ignored and reported in a Warning event `InvalidTolerateUnreadyEndpoints` on the Service.
    pub tolerate_unready_endpoints: bool,
    /// `LegacySingleStackEndpoints`, the rule before Kubernetes 1.20: the address of an endpoint is the primary address
    /// of its Pod, whatever the IP families of the Service. A dual-stack Pod then has the same address in the Endpoints
    /// of every Service, even of a Service of the other family.
    pub single_stack_endpoints: bool,
    /// `LegacyRestartPolicyMembership`, the rule before membership depended on the phase alone (HI-2): a Pod that is
    /// not ready is excluded by its restart policy and phase, with `Never` if it failed or succeeded, with `OnFailure`
    /// if it succeeded, with `Always` never. A Pod that is ready, or whose Service publishes not-ready addresses, is
    /// included whatever its phase.
    pub restart_policy_membership: bool,
}

impl Legacy {
    /// Returns whether Pods that are not ready or terminating are listed as ready addresses.
    pub(crate) fn publishes_not_ready(self, service: &Service) -> bool {
        self.annotation(service).and_then(parse_go_bool).unwrap_or(service.publish_not_ready_addresses)
    }

    /// Returns the annotation of a Service if its value is not a boolean.
    pub(crate) fn invalid_annotation(self, service: &Service) -> Option<&str> {
        self.annotation(service).filter(|value| parse_go_bool(value).is_none())
    }

    /// Returns the annotation of a Service; `None` if the rule is off.
    fn annotation(self, service: &Service) -> Option<&str> {
        service.tolerate_unready_annotation.as_deref().filter(|_| self.tolerate_unready_endpoints)
    }

    /// Returns why a Pod is not an endpoint; `None` if it is one. `publish` is the result of
    /// [`publishes_not_ready`](Self::publishes_not_ready).
    pub(crate) fn exclusion(self, pod: &Pod, publish: bool) -> Option<PodReason> {
        if !self.restart_policy_membership {
            membership::exclusion(pod, publish)
        } else if publish {
            None
        } else if pod.terminating {
            Some(PodReason::Terminating)
        } else {
            (!pod.ready && pod.excluded_by_restart_policy).then_some(PodReason::Finished)
        }
    }

    /// Returns the Pods that are no endpoints because of their addresses.
    pub(crate) fn unusable_addresses(self, service: &Service, pods: &[Arc<Pod>]) -> Option<UnusableAddresses> {
        let publish = self.publishes_not_ready(service);
        let reason = |pod: &Pod| self.exclusion(pod, publish).or_else(|| self.address(pod, service).err());
        UnusableAddresses::of(pods.iter().map(|pod| &**pod), reason)
    }

    /// Returns the address of a Pod, or why it has no valid one of the selected family.
    pub(crate) fn address(self, pod: &Pod, service: &Service) -> Result<Address, PodReason> {
        if !self.single_stack_endpoints {
            return membership::primary_address(pod, service);
        }
        let first = pod.pod_ips.first().ok_or(PodReason::NoAddressOfFamily)?;
        first.usable().map_err(|error| match error {
            AddressError::NotAnIp => PodReason::InvalidAddress,
            _ => PodReason::UnusableAddress,
        })
    }
}
