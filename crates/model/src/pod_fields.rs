//! The fields of a Pod that the rules read.

use crate::{Addresses, IpFamily, Labelled, Labels, NamedPort, Pod, Text};

/// Fields of a Pod that the rules of [`membership`](crate::membership) and [`pod_change`](crate::pod_change) read, so
/// that they apply to any projection of a Pod. [`Pod`] and [`With`](crate::With) implement it.
///
/// A projection need not contain a host name and named ports; without them, its endpoints have no host names, and named
/// target ports are unknown.
///
/// ```
/// use kube_endpoint_model::{Addresses, Labelled, Labels, ObjectMeta, PodFields, PodView, membership};
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
///     fn view(&self) -> PodView<'_> {
///         let terminating = self.metadata.deletion_timestamp.is_some();
///         PodView { ready: self.passed_gate, terminating, ..PodView::new(&self.addresses) }
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
    /// Returns the fields.
    fn view(&self) -> PodView<'_>;
}

/// The fields of [`PodFields`].
#[derive(Clone, Copy, Debug)]
pub struct PodView<'a> {
    /// `status.podIPs`.
    pub pod_ips: &'a Addresses,
    /// Family of `status.podIP`; `None` if it is empty. Text that is not an IP address counts as IPv4.
    pub pod_ip_family: Option<IpFamily>,
    /// Whether the condition Ready is `True`.
    pub ready: bool,
    /// Whether the Pod has a deletion timestamp.
    pub terminating: bool,
    /// Whether the phase is `Failed` or `Succeeded`, which are final.
    pub finished: bool,
    /// `spec.nodeName`; empty if absent.
    pub node_name: &'a Text,
    /// `spec.hostname`; empty if absent.
    pub hostname: &'a Text,
    /// `spec.subdomain`; empty if absent.
    pub subdomain: &'a Text,
    /// Named ports of the containers, then those of the sidecars.
    pub named_ports: &'a [NamedPort],
}

impl<'a> PodView<'a> {
    /// Returns the fields of a running Pod with these addresses that is not ready, and of which nothing else is known.
    pub fn new(pod_ips: &'a Addresses) -> Self {
        const ABSENT: &Text = &Text::new();
        let pod_ip_family = pod_ips.first().map(|ip| ip.family().unwrap_or(IpFamily::V4));
        let (ready, terminating, finished) = (false, false, false);
        let (node_name, hostname, subdomain) = (ABSENT, ABSENT, ABSENT);
        let named_ports = &[];
        Self { pod_ips, pod_ip_family, ready, terminating, finished, node_name, hostname, subdomain, named_ports }
    }
}

impl Labelled for Pod {
    fn labels(&self) -> &Labels {
        &self.labels
    }
}

impl PodFields for Pod {
    #[inline]
    fn view(&self) -> PodView<'_> {
        PodView {
            pod_ips: &self.pod_ips,
            pod_ip_family: self.pod_ip_family,
            ready: self.ready,
            terminating: self.terminating,
            finished: self.finished,
            node_name: &self.node_name,
            hostname: &self.hostname,
            subdomain: &self.subdomain,
            named_ports: &self.named_ports,
        }
    }
}
