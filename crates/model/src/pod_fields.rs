//! The fields of a Pod that the rules read.

use crate::{Addresses, IpFamily, Labelled, Labels, NamedPort, Pod, Text, Uid};

/// Fields of a Pod that the rules of [`membership`](crate::membership) and [`pod_change`](crate::pod_change) read, so
/// that they apply to any projection of a Pod. [`Pod`] and [`With`](crate::With) implement it.
///
/// A projection need not contain a host name and named ports; without them, its endpoints have no host names, and named
/// target ports are unknown.
///
/// ```
/// use kube_endpoint_model::{Addresses, Labelled, Labels, ObjectMeta, PodFields, membership};
///
/// /// What a controller with a readiness gate of its own reads of a Pod.
/// #[derive(serde::Deserialize)]
/// struct GatedPod {
///     metadata: ObjectMeta,
///     #[serde(skip)]
///     addresses: Addresses,
///     #[serde(skip)]
///     passed_gate: bool,
/// }
///
/// kube_wire::object!(GatedPod, kube_wire::Resource::namespaced("", "v1", "pods", "Pod"));
///
/// impl Labelled for GatedPod {
///     fn labels(&self) -> &Labels {
///         &self.metadata.labels
///     }
/// }
///
/// impl PodFields for GatedPod {
///     fn pod_ips(&self) -> &Addresses {
///         &self.addresses
///     }
///     fn is_ready(&self) -> bool {
///         self.passed_gate
///     }
///     fn is_terminating(&self) -> bool {
///         self.metadata.deletion_timestamp.is_some()
///     }
///     fn is_finished(&self) -> bool {
///         false
///     }
/// }
///
/// let mut pod: GatedPod = serde_json::from_str(r#"{"metadata": {"namespace": "shop", "name": "web-0"}}"#)?;
/// assert_eq!(membership::exclusion(&pod, true), Some(membership::PodReason::WithoutAddress));
/// pod.addresses = ["10.1.0.1"].into();
/// assert_eq!(membership::exclusion(&pod, true), None);
/// assert_eq!(membership::unready(&pod, false), Some(membership::PodReason::NotReady));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait PodFields: Labelled {
    /// Returns `status.podIPs`.
    fn pod_ips(&self) -> &Addresses;

    /// Returns whether the condition Ready is `True`.
    fn is_ready(&self) -> bool;

    /// Returns whether the Pod has a deletion timestamp.
    fn is_terminating(&self) -> bool;

    /// Returns whether the phase is `Failed` or `Succeeded`, which are final.
    fn is_finished(&self) -> bool;

    /// Returns the family of `status.podIP`, `None` if it is empty; by default, that of the first of `status.podIPs`.
    /// Text that is not an IP address counts as IPv4.
    fn pod_ip_family(&self) -> Option<IpFamily> {
        self.pod_ips().first().map(|ip| ip.family().unwrap_or(IpFamily::V4))
    }

    /// Returns `spec.nodeName`; empty if absent, which is the default.
    fn node_name(&self) -> &Text {
        ABSENT
    }

    /// Returns `spec.hostname`; empty if absent, which is the default.
    fn hostname(&self) -> &Text {
        ABSENT
    }

    /// Returns `spec.subdomain`; empty if absent, which is the default.
    fn subdomain(&self) -> &Text {
        ABSENT
    }

    /// Returns the named ports of the containers, then those of the sidecars; none by default.
    fn named_ports(&self) -> &[NamedPort] {
        &[]
    }

    /// Returns whether the Pod has this UID. Types that store it should override this to avoid a copy.
    fn has_uid(&self, uid: &Uid) -> bool {
        self.uid() == *uid
    }
}

/// Value of an absent field.
const ABSENT: &Text = &Text::new();

impl Labelled for Pod {
    fn labels(&self) -> &Labels {
        &self.labels
    }
}

impl PodFields for Pod {
    fn pod_ips(&self) -> &Addresses {
        &self.pod_ips
    }

    fn is_ready(&self) -> bool {
        self.ready
    }

    fn is_terminating(&self) -> bool {
        self.terminating
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn pod_ip_family(&self) -> Option<IpFamily> {
        self.pod_ip_family
    }

    fn node_name(&self) -> &Text {
        &self.node_name
    }

    fn hostname(&self) -> &Text {
        &self.hostname
    }

    fn subdomain(&self) -> &Text {
        &self.subdomain
    }

    fn named_ports(&self) -> &[NamedPort] {
        &self.named_ports
    }

    fn has_uid(&self, uid: &Uid) -> bool {
        self.uid == *uid
    }
}
