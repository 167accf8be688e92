//! Rules of older generations of the Endpoints controller, for clusters and manifests that still rely on them: pure.

use kube_endpoint_model::{Address, Pod, Service, membership, parse_go_bool};

/// Which rules of older generations hold. By default none does, and everything is as in Kubernetes 1.36.
///
/// Each is a feature gate of the program, deprecated and off. They change Endpoints only: slices never knew these rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Legacy {
    /// `LegacyTolerateUnreadyEndpoints`, the rule before Kubernetes 1.24 (HI-1): the annotation
    /// `service.alpha.kubernetes.io/tolerate-unready-endpoints` of a Service, where it has one, overrides
    /// `publishNotReadyAddresses` either way. A value that is no boolean is told in an event of the Service
    /// (`InvalidTolerateUnreadyEndpoints`) and ignored.
    pub tolerate_unready_endpoints: bool,
    /// `LegacySingleStackEndpoints`, the rule before Kubernetes 1.20: an endpoint is a Pod's primary address, whatever
    /// families its Service has. With it a dual-stack Pod has one and the same address in the Endpoints of every
    /// Service, be that one of the other family.
    pub single_stack_endpoints: bool,
    /// `LegacyRestartPolicyMembership`, the rule before a finished Pod left for good (HI-2): a Pod that is not ready leaves
    /// by its restart policy, `Never` once it failed or succeeded, `OnFailure` once it succeeded, `Always` never. One that
    /// is ready, or published although it is not, stays whatever its phase.
    pub restart_policy_membership: bool,
}

impl Legacy {
    /// Whether Pods are published that are not ready or terminating.
    pub(crate) fn publishes_not_ready(self, service: &Service) -> bool {
        self.tolerance(service).and_then(parse_go_bool).unwrap_or(service.publish_not_ready_addresses)
    }

    /// What the annotation of a Service says, if that is no boolean.
    pub(crate) fn malformed_tolerance(self, service: &Service) -> Option<&str> {
        self.tolerance(service).filter(|value| parse_go_bool(value).is_none())
    }

    fn tolerance(self, service: &Service) -> Option<&str> {
        service.tolerate_unready_annotation.as_deref().filter(|_| self.tolerate_unready_endpoints)
    }

    /// Whether a Pod is an endpoint, where `publish` says whether those are that are not ready or terminating.
    pub(crate) fn is_endpoint(self, pod: &Pod, publish: bool) -> bool {
        if self.restart_policy_membership {
            publish || (!pod.terminating && (pod.ready || !pod.retired))
        } else {
            membership::is_endpoint(pod, publish)
        }
    }

    /// The address of a Pod.
    pub(crate) fn address(self, pod: &Pod, service: &Service) -> Option<Address> {
        if self.single_stack_endpoints {
            pod.pod_ips.first().and_then(Address::ip).map(Address::from)
        } else {
            membership::primary_address(pod, service)
        }
    }
}
