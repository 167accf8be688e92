//! Whether the Endpoints object of a Service without a selector is mirrored, and what is left out.

use std::sync::Arc;

use kube_endpoint_model::{Code, EndpointSlice, ObjectKey};
use kube_endpointslice_mirroring::{MirrorPlan, NotMirrored, NothingToMirror, plan};

use crate::report::Reason;
use crate::world::World;

/// Plan of the mirroring controller for the Service of one name.
pub(crate) struct Mirroring(Result<MirrorPlan, NothingToMirror>);

impl Mirroring {
    pub(crate) fn new(world: &World, key: &ObjectKey) -> Mirroring {
        Mirroring(plan(world, key, world.settings.max_endpoints_per_subset))
    }

    /// Returns the plan for the slices that mirror the Endpoints object; `None` if there is nothing to mirror.
    pub(crate) fn plan(&self) -> Option<&MirrorPlan> {
        self.0.as_ref().ok()
    }

    /// Returns why the Endpoints object is not mirrored; `None` if it is, or if there is none.
    pub(crate) fn not_mirrored(&self) -> Option<NotMirrored> {
        match &self.0 {
            Err(NothingToMirror::NotMirrored { reason, .. }) => Some(*reason),
            _ => None,
        }
    }

    /// Returns the slices that the controller would delete because there is nothing to mirror.
    pub(crate) fn superfluous(&self) -> &[Arc<EndpointSlice>] {
        self.0.as_ref().err().map(NothingToMirror::superfluous).unwrap_or_default()
    }
}

/// Returns why the Endpoints object of that name is not mirrored, or which addresses are left out. None for the
/// Endpoints of a Service with a selector, whose slices are made from Pods.
pub(crate) fn mirror_reasons(world: &World, key: &ObjectKey, mirroring: &Mirroring) -> Vec<Reason> {
    match (mirroring.not_mirrored(), mirroring.plan()) {
        (Some(NotMirrored::Selector), _) | (None, None) => Vec::new(),
        (Some(_), _) if world.services.get(key).is_some_and(|it| it.selector.is_some()) => Vec::new(),
        (Some(reason), _) => vec![not_mirrored(reason)],
        (None, Some(MirrorPlan { skipped, invalid, .. })) => {
            let max = world.settings.max_endpoints_per_subset;
            let beyond = skipped - invalid;
            let unusable =
                format!("addresses of the Endpoints object that no endpoint can have, and not mirrored: {invalid}");
            let excess = format!("addresses beyond the limit of {max} in a subset, and not mirrored: {beyond}");
            let reasons = [(*invalid, Code::MirrorInvalidAddress, unusable), (beyond, Code::MirrorLimit, excess)];
            let reasons = reasons.into_iter().filter(|(count, ..)| *count > 0);
            reasons.map(|(_, code, message)| Reason { code, message }).collect()
        }
    }
}

pub(crate) fn not_mirrored(reason: NotMirrored) -> Reason {
    let message = match reason {
        NotMirrored::Skipped => "not mirrored: label endpointslice.kubernetes.io/skip-mirror is true",
        NotMirrored::LeaderLock => "not mirrored: annotation control-plane.alpha.kubernetes.io/leader is set",
        NotMirrored::NoService => "not mirrored: no Service has its name",
        NotMirrored::Selector => "not mirrored: its Service has a selector, and slices of its own",
        _ => reason.code().title(),
    };
    Reason { code: reason.code(), message: message.to_owned() }
}
