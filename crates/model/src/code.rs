//! Stable codes of the reasons for decisions.

use std::fmt;

use serde::Serialize;

/// How serious a reason is for a Service as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Expected in normal operation, such as a terminating Pod. Not a finding of a check.
    Info,
    /// Some traffic may not be served as intended.
    Warning,
    /// The configuration cannot work.
    Error,
}

/// Defines [`Code`] from one table of variants, codes, severities and titles.
macro_rules! codes {
    ($($name:ident $code:literal $severity:ident $title:literal)*) => {
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

            /// Returns how serious the reason is for a Service as a whole.
            pub fn severity(self) -> Severity {
                match self {
                    $(Code::$name => Severity::$severity,)*
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
    PodNotSelected "EP001" Warning "The selector of the Service does not match the Pod"
    NoPodSelected "EP002" Warning "The Service selects no Pod"
    NoSelector "EP003" Info "The Service has no selector"
    ExternalName "EP004" Info "The Service is an alias of an external name"
    NoUsableEndpoint "EP005" Warning "No endpoint receives the traffic of the Service"
    ServiceTerminating "EP006" Warning "The Service is being deleted"
    PodFinished "EP101" Info "The Pod has finished"
    PodNotReady "EP102" Warning "The Pod is not ready"
    PodTerminating "EP103" Info "The Pod is terminating"
    PodWithoutAddress "EP104" Warning "The Pod has no IP address"
    PodPublishedNotReady "EP105" Info "The Pod is not ready, and published as ready"
    TargetPortUnknown "EP201" Error "The target port names no container port"
    TargetPortProtocol "EP202" Error "The target port names a container port of another protocol"
    NoPort "EP203" Error "The Pod serves no port of the Service"
    PortUnserved "EP204" Error "No endpoint serves a port of the Service"
    PortWithoutRecord "EP205" Warning "No endpoint of the headless Service has a port of that name"
    NoAddressOfFamily "EP301" Warning "The Pod has no address of an IP family of the Service"
    InvalidAddress "EP302" Error "An address of the Pod is invalid"
    NodeMissing "EP303" Error "The Node of the Pod does not exist"
    UnusableAddress "EP304" Error "No endpoint can have the address of the Pod"
    HintsTooFewEndpoints "EP401" Warning "Fewer ready endpoints than zones: no topology hints"
    HintsOneZone "EP402" Warning "The cluster has no Nodes: no topology hints"
    HintsNodeInformation "EP403" Warning "Nodes lack a zone, CPU or a second zone: no topology hints"
    HintsOverload "EP404" Warning "Too few endpoints to spread the load by CPU: no topology hints"
    HintsEndpointZone "EP405" Warning "An endpoint has no zone: no topology hints"
    HintsUnknownPolicy "EP406" Warning "The hint policy of the Service is not recognized"
    SlicesDiffer "EP501" Warning "EndpointSlices differ from what the controller would write"
    EndpointsDiffer "EP502" Warning "Endpoints differ from what the controller would write"
    SliceOrphaned "EP503" Warning "No controller updates the EndpointSlice any more"
    SliceForeign "EP504" Info "Another controller manages the EndpointSlice"
    SliceTerminating "EP505" Info "The EndpointSlice is being deleted"
    DuplicateAddress "EP506" Warning "Several endpoints of the Service have the same address"
    EndpointsTruncated "EP507" Warning "The Endpoints object contains only 1000 of the addresses"
    PodNotWritten "EP508" Info "The Pod is ready, and in no EndpointSlice yet"
    SeveralAddresses "EP509" Warning "An endpoint has several addresses"
    SliceWithoutService "EP510" Warning "The EndpointSlice does not name a Service"
    TargetMissing "EP511" Warning "An endpoint is a Pod that does not exist"
    EndpointsOrphaned "EP512" Warning "No controller updates the Endpoints object any more"
    MirrorSelector "EP601" Info "Endpoints of a Service with a selector are not mirrored"
    MirrorSkipped "EP602" Info "The Endpoints object asks not to be mirrored"
    MirrorLeaderLock "EP603" Info "The Endpoints object is a lock of leader election"
    MirrorNoService "EP604" Warning "The Endpoints object has no Service"
    MirrorInvalidAddress "EP605" Warning "An address of the Endpoints object is invalid"
    MirrorLimit "EP606" Warning "The Endpoints object has more addresses than are mirrored"
    PlacementKept "EP701" Info "The endpoint stays in its slice"
    PlacementUpdated "EP702" Info "The endpoint changes in its slice"
    PlacementFilledIn "EP703" Info "The endpoint is added to a slice that is updated anyway"
    PlacementFilledFullest "EP704" Info "The endpoint is added to the fullest slice with enough space"
    PlacementNewSlice "EP705" Info "The endpoint is added to a new slice"
    PlacementRecycledName "EP706" Info "The endpoint is added to a new slice under the name of a deleted one"
    PlacementRemoved "EP707" Info "The endpoint is removed"
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
