//! Which Endpoints objects are mirrored.

use crate::well_known::SKIP_MIRROR_LABEL;
use crate::{Code, Endpoints, Service};

/// Why an Endpoints object is not mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotMirrored {
    /// The label `endpointslice.kubernetes.io/skip-mirror` is `true`.
    Skipped,
    /// The annotation `control-plane.alpha.kubernetes.io/leader` marks the object as a lock of leader election.
    LeaderLock,
    /// No Service has the name of the object.
    NoService,
    /// The Service has a selector: its slices are made from Pods.
    Selector,
}

impl NotMirrored {
    /// Returns the stable code of the reason.
    pub fn code(self) -> Code {
        match self {
            NotMirrored::Skipped => Code::MirrorSkipped,
            NotMirrored::LeaderLock => Code::MirrorLeaderLock,
            NotMirrored::NoService => Code::MirrorNoService,
            NotMirrored::Selector => Code::MirrorSelector,
        }
    }

    /// Returns why an Endpoints object is not mirrored whatever its Service (MI-1).
    pub fn opt_out(endpoints: &Endpoints) -> Option<NotMirrored> {
        if endpoints.metadata.labels.get(SKIP_MIRROR_LABEL) == Some("true") {
            Some(NotMirrored::Skipped)
        } else {
            endpoints.is_leader_lock().then_some(NotMirrored::LeaderLock)
        }
    }
}

/// Returns why an Endpoints object is not mirrored (MI-1, MI-2); `None` if it is. `service` is the Service of its name.
pub fn not_mirrored(endpoints: &Endpoints, service: Option<&Service>) -> Option<NotMirrored> {
    NotMirrored::opt_out(endpoints).or_else(|| match service {
        None => Some(NotMirrored::NoService),
        Some(service) => service.selector.is_some().then_some(NotMirrored::Selector),
    })
}
