//! Pods that are left out because of their addresses.

use std::fmt;

use crate::membership::PodReason;
use crate::{Address, AddressError, PodFields, Text, WarningEvent};

/// Number of Pods that the text names.
const NAMED: usize = 3;

/// Pods of a Service that are no endpoints, since the API server rejects their addresses (EC-5, EC-50).
///
/// Displayed as a list of the first Pods by name, each with its address and why no endpoint can have it.
///
/// ```
/// use kube_endpoint_model::{IpFamily, Pod, UnusableAddresses, membership};
///
/// let pod = Pod { name: "web-0".into(), pod_ips: ["169.254.9.9"].into(), ..Pod::default() };
/// let left_out = |family| UnusableAddresses::of([&pod], |pod| membership::addresses(pod, family).err());
/// assert_eq!(left_out(IpFamily::V4).unwrap().to_string(), "web-0 (169.254.9.9: a link-local address)");
/// assert!(left_out(IpFamily::V6).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableAddresses {
    pods: Vec<(Text, Address, AddressError)>,
}

impl UnusableAddresses {
    /// Returns the event about a Service with such Pods. `objects` are those that the Pods are left out of, such as
    /// `EndpointSlices`.
    pub fn event(&self, objects: &str) -> WarningEvent {
        let message = format!("Pods are left out of {objects}, since the API server rejects their addresses: {self}");
        WarningEvent { reason: "InvalidPodAddress", message }
    }

    /// Returns the Pods that are left out because of their addresses; `None` if there are none. `reason` returns why a
    /// Pod is no endpoint, as [`membership::addresses`](crate::membership::addresses) does.
    pub fn of<'a, P: PodFields + 'a>(
        pods: impl IntoIterator<Item = &'a P>,
        reason: impl Fn(&P) -> Option<PodReason>,
    ) -> Option<UnusableAddresses> {
        let unusable = |pod: &'a P| {
            let (address, error) = pod.view().pod_ips.iter().find_map(|it| Some((it, it.usable().err()?)))?;
            matches!(reason(pod), Some(PodReason::InvalidAddress | PodReason::UnusableAddress))
                .then(|| (pod.key().name, address.clone(), error))
        };
        let mut pods: Vec<_> = pods.into_iter().filter_map(unusable).collect();
        pods.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        (!pods.is_empty()).then_some(UnusableAddresses { pods })
    }
}

impl fmt::Display for UnusableAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, address, error)) in self.pods.iter().take(NAMED).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{name} ({address}: {error})")?;
        }
        match self.pods.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IpFamily, Pod, membership};
    use rstest::rstest;

    /// Addresses of the Pods, those of one Pod joined by `+`.
    #[rstest]
    #[case::none(&["10.0.0.1", "fd00::1+10.0.0.2"], None)]
    #[case::several(
        &["127.0.0.1", "10.0.0.1", "bad"],
        Some("p0 (127.0.0.1: a loopback address), p2 (bad: not an IP address)"))]
    #[case::another_address_is_used(&["127.0.0.1+10.0.0.1"], None)]
    #[case::of_the_other_family(&["fe80::1+10.0.0.1", "fe80::1"], None)]
    #[case::many(
        &["0.0.0.0", "224.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.3"],
        Some("p0 (0.0.0.0: the unspecified address), p1 (224.0.0.1: a link-local multicast address), \
            p2 (127.0.0.1: a loopback address), and 2 more"))]
    fn lists_pods(#[case] ips: &[&str], #[case] expected: Option<&str>) {
        let pod = |(number, ips): (usize, &&str)| Pod {
            name: format!("p{number}").into(),
            pod_ips: ips.split('+').collect(),
            ..Pod::default()
        };
        let pods: Vec<Pod> = ips.iter().enumerate().map(pod).collect();
        let found = UnusableAddresses::of(pods.iter().rev(), |pod| membership::addresses(pod, IpFamily::V4).err());
        assert_eq!(found.map(|it| it.to_string()).as_deref(), expected);
    }
}
