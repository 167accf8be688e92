//! Findings about single slices and Endpoints objects.

use kube_endpoint_model::well_known::{MIRRORING_CONTROLLER, SLICE_CONTROLLER};
use kube_endpoint_model::{Code, EndpointSlice, ObjectKey, TargetRef, Text};
use kube_wire::Object as _;

use crate::counts::{count, named};
use crate::report::{Finding, Kind, ObjectRef, ObjectState, Reason, WrittenObject};
use crate::world::World;

pub(crate) fn finding(object: ObjectRef, reason: Reason) -> Finding {
    Finding { severity: reason.code.severity(), object, reason }
}

/// Returns the findings about a slice. `written` describes it.
pub(crate) fn slice_findings(world: &World, slice: &EndpointSlice, written: &WrittenObject) -> Vec<Finding> {
    let state = without_service(slice).or_else(|| state(written));
    let reasons = [state, several_addresses(slice), missing_pods(world, slice, written)];
    let object = ObjectRef::new(Kind::EndpointSlice, &slice.key());
    reasons.into_iter().flatten().map(|reason| finding(object.clone(), reason)).collect()
}

/// Returns why no controller of kube-controller-manager keeps the slice current.
fn state(written: &WrittenObject) -> Option<Reason> {
    let (code, message) = match written.state {
        ObjectState::Orphaned => {
            (Code::SliceOrphaned, "its Service has no selector, is an alias, or does not exist".to_owned())
        }
        ObjectState::Foreign => {
            (Code::SliceForeign, format!("managed by {}", written.managed_by.as_deref().unwrap_or("no controller")))
        }
        ObjectState::Terminating => (Code::SliceTerminating, "has a deletion timestamp: it does not count".to_owned()),
        _ => return None,
    };
    Some(Reason { code, message })
}

/// Returns that a slice of our controllers has lost the label by which clients find it.
fn without_service(slice: &EndpointSlice) -> Option<Reason> {
    let is_ours = slice.is_managed_by(SLICE_CONTROLLER) || slice.is_managed_by(MIRRORING_CONTROLLER);
    let reason = || Reason {
        code: Code::SliceWithoutService,
        message: "no label kubernetes.io/service-name: no client uses it, and no controller updates it".to_owned(),
    };
    (is_ours && slice.service_name().is_none()).then(reason)
}

fn several_addresses(slice: &EndpointSlice) -> Option<Reason> {
    // The slice controller writes all addresses of a Pod, as upstream.
    if slice.is_managed_by(SLICE_CONTROLLER) {
        return None;
    }
    let several = slice.endpoints.iter().filter(|endpoint| endpoint.addresses.len() > 1).count();
    let message = || format!("{} with several addresses: clients use only the first", count(several, "endpoint"));
    (several > 0).then(|| Reason { code: Code::SeveralAddresses, message: message() })
}

/// Returns the Pods of a slice that do not exist. A slice of the slice controller follows its Pods, unless it is
/// orphaned. Of Pods in other namespaces than that of the slice it is not known whether they were read.
fn missing_pods(world: &World, slice: &EndpointSlice, written: &WrittenObject) -> Option<Reason> {
    let follows_pods = slice.is_managed_by(SLICE_CONTROLLER) && written.state != ObjectState::Orphaned;
    if follows_pods || slice.service_name().is_none() || world.is_unknown(Kind::Pod) {
        return None;
    }
    let namespace = &slice.metadata.namespace;
    let is_near = |target: &TargetRef| target.namespace().is_empty() || target.namespace() == namespace;
    let targets = slice.endpoints.iter().filter_map(|endpoint| endpoint.target_ref.as_ref());
    let pods = targets.filter(|target| target.is_of_pod() && is_near(target)).map(TargetRef::name);
    let exists = |name: &str| world.pods.contains_key(&ObjectKey::new(namespace.clone(), name));
    let missing: Vec<&str> = pods.map(Text::as_str).filter(|name| !exists(name)).collect();
    let message = || format!("refers to Pods that do not exist: {}", named(&missing));
    (!missing.is_empty()).then(|| Reason { code: Code::TargetMissing, message: message() })
}

/// Returns the finding about an Endpoints object that the Endpoints controller wrote for a Service that it ignores now,
/// or that is gone.
pub(crate) fn endpoints_finding(world: &World, key: &ObjectKey, written: &WrittenObject) -> Option<Finding> {
    let is_lock = world.endpoints.get(key).is_some_and(|it| it.is_leader_lock());
    if written.state != ObjectState::Orphaned || is_lock {
        return None;
    }
    let message = if world.services.contains_key(key) {
        "written by the endpoints controller, which ignores its Service now: stays as it is, and is mirrored"
    } else {
        "written by the endpoints controller, and its Service is gone: stays as it is"
    };
    let reason = Reason { code: Code::EndpointsOrphaned, message: message.to_owned() };
    Some(finding(ObjectRef::new(Kind::Endpoints, key), reason))
}
