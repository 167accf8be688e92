//! How serious each code is.

use kube_endpoint_model::Code;

use crate::report::Severity;

impl Severity {
    /// Returns how serious a code is for a Service as a whole.
    pub fn of(code: Code) -> Severity {
        match code {
            Code::TargetPortUnknown
            | Code::TargetPortProtocol
            | Code::NoPort
            | Code::PortUnserved
            | Code::InvalidAddress
            | Code::UnusableAddress
            | Code::NodeMissing => Severity::Error,
            Code::PodNotSelected
            | Code::NoPodSelected
            | Code::NoUsableEndpoint
            | Code::ServiceTerminating
            | Code::PortWithoutRecord
            | Code::PodNotReady
            | Code::PodWithoutAddress
            | Code::NoAddressOfFamily
            | Code::HintsTooFewEndpoints
            | Code::HintsOneZone
            | Code::HintsNodeInformation
            | Code::HintsOverload
            | Code::HintsEndpointZone
            | Code::HintsUnknownPolicy
            | Code::SlicesDiffer
            | Code::EndpointsDiffer
            | Code::SliceOrphaned
            | Code::DuplicateAddress
            | Code::EndpointsTruncated
            | Code::SeveralAddresses
            | Code::SliceWithoutService
            | Code::TargetMissing
            | Code::EndpointsOrphaned
            | Code::MirrorNoService
            | Code::MirrorInvalidAddress
            | Code::MirrorLimit => Severity::Warning,
            _ => Severity::Info,
        }
    }
}
