//! Events about topology hints.

use std::fmt;

use kube_endpoint_model::{AddressType, Code};

/// Kubernetes Event about topology hints, to record on the Service after its slices were written (RC-35).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyEvent {
    /// Whether the event's type is `Normal`; otherwise `Warning`.
    pub normal: bool,
    /// Reason of the event, as upstream: `TopologyAwareHintsEnabled` or `TopologyAwareHintsDisabled`.
    pub reason: &'static str,
    /// Message of the event, as upstream: the cause and the address type.
    pub message: String,
    /// Reason why the Service has no hints although it requests them; `None` if it has them.
    pub cause: Option<DisabledReason>,
}

impl TopologyEvent {
    pub(crate) fn enabled(address_type: &AddressType) -> Self {
        TopologyEvent {
            normal: true,
            reason: "TopologyAwareHintsEnabled",
            message: with_address_type("Topology Aware Hints has been enabled", address_type),
            cause: None,
        }
    }

    pub(crate) fn failed(cause: DisabledReason, address_type: &AddressType) -> Self {
        TopologyEvent { cause: Some(cause), ..Self::disabled(cause, address_type) }
    }

    fn disabled(text: impl fmt::Display, address_type: &AddressType) -> Self {
        TopologyEvent {
            normal: false,
            reason: "TopologyAwareHintsDisabled",
            message: with_address_type(text, address_type),
            cause: None,
        }
    }
}

/// Returns the event for a Service that had topology hints and no longer uses them (RC-33).
///
/// Emit it once per Service, with the first address type, as [`HintPolicy::apply`](crate::HintPolicy::apply) does.
pub fn disabled_event(address_type: &AddressType) -> TopologyEvent {
    TopologyEvent::disabled("Topology Aware Hints has been disabled", address_type)
}

/// Appends the address type to a message (TP-14).
fn with_address_type(text: impl fmt::Display, address_type: &AddressType) -> String {
    format!("{text}, addressType: {}", address_type.as_str())
}

/// Why a Service gets no topology hints although it requests them (TP-6, TP-9). Displayed as the message of the event,
/// without the address type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DisabledReason {
    /// A ready Node has no zone or no allocatable CPU, or fewer than two zones have ready Nodes.
    InsufficientNodeInfo,
    /// No Node has been seen yet (EC-15); upstream's message is about a single zone.
    NodesReadyInOneZoneOnly,
    /// There are fewer ready endpoints than zones.
    InsufficientNumberOfEndpoints {
        /// Number of ready endpoints.
        endpoints: usize,
        /// Number of zones.
        zones: usize,
    },
    /// No allocation keeps every zone within 20 % above the average load.
    MinAllocationExceedsOverloadThreshold {
        /// Number of ready endpoints.
        endpoints: usize,
        /// Number of zones.
        zones: usize,
    },
    /// A ready endpoint has no zone.
    NoZoneSpecified,
}

impl DisabledReason {
    /// Returns the stable code of the reason.
    pub fn code(self) -> Code {
        match self {
            DisabledReason::InsufficientNodeInfo => Code::HintsNodeInformation,
            DisabledReason::NodesReadyInOneZoneOnly => Code::HintsOneZone,
            DisabledReason::InsufficientNumberOfEndpoints { .. } => Code::HintsTooFewEndpoints,
            DisabledReason::MinAllocationExceedsOverloadThreshold { .. } => Code::HintsOverload,
            DisabledReason::NoZoneSpecified => Code::HintsEndpointZone,
        }
    }
}

impl fmt::Display for DisabledReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DisabledReason::InsufficientNodeInfo => {
                f.write_str("Insufficient Node information: allocatable CPU or zone not specified on one or more nodes")
            }
            DisabledReason::NodesReadyInOneZoneOnly => f.write_str("Nodes only ready in one zone"),
            DisabledReason::InsufficientNumberOfEndpoints { endpoints, zones } => {
                write!(f, "Insufficient number of endpoints ({endpoints} endpoints, {zones} zones)")
            }
            DisabledReason::MinAllocationExceedsOverloadThreshold { endpoints, zones } => write!(
                f,
                "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold \
                 ({endpoints} endpoints, {zones} zones)"
            ),
            DisabledReason::NoZoneSpecified => f.write_str("One or more endpoints do not have a zone specified"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // The texts are part of the API.
    #[rstest]
    #[case(
        DisabledReason::InsufficientNodeInfo,
        "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv6"
    )]
    #[case(DisabledReason::NodesReadyInOneZoneOnly, "Nodes only ready in one zone, addressType: IPv6")]
    #[case(
        DisabledReason::InsufficientNumberOfEndpoints { endpoints: 1, zones: 3 },
        "Insufficient number of endpoints (1 endpoints, 3 zones), addressType: IPv6"
    )]
    #[case(
        DisabledReason::MinAllocationExceedsOverloadThreshold { endpoints: 4, zones: 3 },
        "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, \
         3 zones), addressType: IPv6"
    )]
    #[case(DisabledReason::NoZoneSpecified, "One or more endpoints do not have a zone specified, addressType: IPv6")]
    fn disabled_reasons(#[case] reason: DisabledReason, #[case] message: &str) {
        let event = TopologyEvent::failed(reason, &AddressType::IPv6);
        assert_eq!(event.cause, Some(reason));
        assert_eq!((event.normal, event.reason), (false, "TopologyAwareHintsDisabled"));
        assert_eq!(event.message, message);
    }

    #[test]
    fn enabled_and_disabled_events() {
        let enabled = TopologyEvent::enabled(&AddressType::IPv4);
        assert_eq!((enabled.normal, enabled.reason), (true, "TopologyAwareHintsEnabled"));
        assert_eq!(enabled.message, "Topology Aware Hints has been enabled, addressType: IPv4");
        let disabled = disabled_event(&AddressType::Fqdn);
        assert_eq!((disabled.normal, disabled.reason), (false, "TopologyAwareHintsDisabled"));
        assert_eq!(disabled.message, "Topology Aware Hints has been disabled, addressType: FQDN");
    }
}
