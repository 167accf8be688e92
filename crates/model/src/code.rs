//! Stable codes of the reasons for decisions.

use std::fmt;

use serde::Serialize;

/// Defines [`Code`] from one table of variants, codes and titles.
macro_rules! codes {
    ($($name:ident $code:literal $title:literal)*) => {
        /// Stable code of the reason for a decision about an endpoint, such as `EP102`.
        ///
        /// Types that report decisions, such as [`PodReason`](crate::membership::PodReason), return it from a method
        /// `code`. A code never changes its meaning; the
        /// [book](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/codes.md) has a section about
        /// each. Codes are displayed and serialized as their text, and
        /// ordered by it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Code {
            $(
                #[doc = concat!("`", $code, "`: ", $title, ".")]
                #[serde(rename = $code)]
                $name,
            )*
        }

        impl Code {
            /// All codes, in order.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// Returns the code as text, such as `EP102`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $code,)*
                }
            }

            /// Returns what the code means, in a few words without a full stop.
            pub fn title(self) -> &'static str {
                match self {
                    $(Code::$name => $title,)*
                }
            }
        }
    };
}

codes! {
    PodNotSelected "EP001" "The selector of the Service does not match the Pod"
    NoPodSelected "EP002" "The Service selects no Pod"
    NoSelector "EP003" "The Service has no selector"
    ExternalName "EP004" "The Service is an alias of an external name"
    NoUsableEndpoint "EP005" "No endpoint receives the traffic of the Service"
    ServiceTerminating "EP006" "The Service is being deleted"
    PodFinished "EP101" "The Pod has finished"
    PodNotReady "EP102" "The Pod is not ready"
    PodTerminating "EP103" "The Pod is terminating"
    PodWithoutAddress "EP104" "The Pod has no IP address"
    PodPublishedNotReady "EP105" "The Pod is not ready, and published as ready"
    TargetPortUnknown "EP201" "The target port names no container port"
    TargetPortProtocol "EP202" "The target port names a container port of another protocol"
    NoPort "EP203" "The Pod serves no port of the Service"
    PortUnserved "EP204" "No endpoint serves a port of the Service"
    PortWithoutRecord "EP205" "No endpoint of the headless Service has a port of that name"
    NoAddressOfFamily "EP301" "The Pod has no address of an IP family of the Service"
    InvalidAddress "EP302" "An address of the Pod is invalid"
    NodeMissing "EP303" "The Node of the Pod does not exist"
    UnusableAddress "EP304" "No endpoint can have the address of the Pod"
    HintsTooFewEndpoints "EP401" "Fewer ready endpoints than zones: no topology hints"
    HintsOneZone "EP402" "The cluster has no Nodes: no topology hints"
    HintsNodeInformation "EP403" "Nodes lack a zone, CPU or a second zone: no topology hints"
    HintsOverload "EP404" "Too few endpoints to spread the load by CPU: no topology hints"
    HintsEndpointZone "EP405" "An endpoint has no zone: no topology hints"
    HintsUnknownPolicy "EP406" "The hint policy of the Service is not recognized"
    SlicesDiffer "EP501" "EndpointSlices differ from what the controller would write"
    EndpointsDiffer "EP502" "Endpoints differ from what the controller would write"
    SliceOrphaned "EP503" "No controller updates the EndpointSlice any more"
    SliceForeign "EP504" "Another controller manages the EndpointSlice"
    SliceTerminating "EP505" "The EndpointSlice is being deleted"
    DuplicateAddress "EP506" "Several endpoints of the Service have the same address"
    EndpointsTruncated "EP507" "The Endpoints object contains only 1000 of the addresses"
    PodNotWritten "EP508" "The Pod is ready, and in no EndpointSlice yet"
    SeveralAddresses "EP509" "An endpoint has several addresses"
    SliceWithoutService "EP510" "The EndpointSlice does not name a Service"
    TargetMissing "EP511" "An endpoint is a Pod that does not exist"
    EndpointsOrphaned "EP512" "No controller updates the Endpoints object any more"
    MirrorSelector "EP601" "Endpoints of a Service with a selector are not mirrored"
    MirrorSkipped "EP602" "The Endpoints object asks not to be mirrored"
    MirrorLeaderLock "EP603" "The Endpoints object is a lock of leader election"
    MirrorNoService "EP604" "The Endpoints object has no Service"
    MirrorInvalidAddress "EP605" "An address of the Endpoints object is invalid"
    MirrorLimit "EP606" "The Endpoints object has more addresses than are mirrored"
    PlacementKept "EP701" "The endpoint stays in its slice"
    PlacementUpdated "EP702" "The endpoint changes in its slice"
    PlacementFilledIn "EP703" "The endpoint is added to a slice that is updated anyway"
    PlacementFilledFullest "EP704" "The endpoint is added to the fullest slice with enough space"
    PlacementNewSlice "EP705" "The endpoint is added to a new slice"
    PlacementRecycledName "EP706" "The endpoint is added to a new slice under the name of a deleted one"
    PlacementRemoved "EP707" "The endpoint is removed"
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(Code::ALL.is_sorted_by(|a, b| a.as_str() < b.as_str()));
        assert!(Code::ALL.is_sorted());
        for code in Code::ALL {
            let text = code.as_str();
            assert!(text.len() == 5 && text.starts_with("EP"), "{text}");
            assert!(!code.title().ends_with('.'), "{text}");
        }
        assert_eq!(format!("{:>7}", Code::PodNotReady), "  EP102");
    }
}
