//! The plan for the Endpoints object of one Service.

use std::sync::Arc;

use kube_endpoint_model::membership::PodOutcome;
use kube_endpoint_model::well_known::TOLERATE_UNREADY_ANNOTATION;
use kube_endpoint_model::{
    Cluster, Endpoints, ObjectKey, Pod, SelectingService, ServiceState, TargetRef, WarningEvent, Write, references,
};

use crate::desired::{desired_subsets, write_to};
use crate::kept::kept_subsets;
use crate::legacy::Legacy;

/// What the controller does about the Endpoints object of one Service.
#[derive(Debug)]
pub struct Plan {
    /// The Service that the plan is for.
    pub service: SelectingService,
    /// Write of the Endpoints object; `None` if it stays as it is.
    pub write: Option<Write<Endpoints>>,
    /// Events about the Service.
    pub events: Vec<WarningEvent>,
    /// Number of Pods that the Service selects.
    pub pods: usize,
    /// Whether objects are withheld, so that the plan has to be repeated.
    pub is_withheld: bool,
}

/// Plans the Endpoints object of the Service of a name (EP-1, EP-3 to EP-13, EP-15 to EP-18). Passes the decision about
/// each selected Pod to `observe`: whether it is an address, and why.
///
/// `is_left_over` returns whether an object without a Service is left over from one, so that it is deleted (EP-1). Others
/// stay: users and backup tools create Endpoints before their Service.
///
/// The controller, previews and explanations all call it.
pub fn plan(
    cluster: &impl Cluster,
    key: &ObjectKey,
    state: &mut ServiceState,
    legacy: Legacy,
    is_left_over: impl Fn(&Endpoints) -> bool,
    observe: impl FnMut(&Arc<Pod>, PodOutcome),
) -> Plan {
    let selecting = cluster.selecting_service(key);
    let is_withheld = selecting == SelectingService::Withheld;
    let mut plan = Plan { service: selecting, write: None, events: Vec::new(), pods: 0, is_withheld };
    let service = match &plan.service {
        SelectingService::Selects(service) => service,
        // An existing object is not changed (EP-3, EP-4).
        SelectingService::Ignored | SelectingService::Withheld => return plan,
        SelectingService::Missing => {
            let left_over = cluster.endpoints(key).filter(|endpoints| is_left_over(endpoints));
            plan.write = left_over.map(Write::Delete);
            return plan;
        }
    };
    let current = cluster.endpoints(key);
    let withheld =
        current.as_ref().map(|current| cluster.withheld_pods(references::targets(current))).unwrap_or_default();
    let pods = cluster.selected_pods(service);
    let kept = match &current {
        Some(current) if !withheld.is_empty() => {
            let is_there = |target: &TargetRef| pods.binary_search_by(|pod| pod.name.cmp(target.name())).is_ok();
            kept_subsets(current, |target| withheld.contains(target) && !is_there(target))
        }
        _ => Vec::new(),
    };
    plan.is_withheld = !kept.is_empty();
    plan.pods = pods.len();
    plan.events.extend(legacy.invalid_annotation(service).map(invalid_annotation));
    let unusable = legacy.unusable_addresses(service, &pods);
    plan.events.extend(state.changed_unusable(unusable.map(|unusable| unusable.event("Endpoints"))));
    let trigger_time = state.observe(service, &pods);
    let subsets = desired_subsets(kept, service, &pods, legacy, observe);
    plan.write = write_to(service, subsets, current.as_ref(), trigger_time);
    plan
}

fn invalid_annotation(value: &str) -> WarningEvent {
    let message = format!("Annotation {TOLERATE_UNREADY_ANNOTATION} is ignored: {value:?} is not a boolean");
    WarningEvent { reason: "InvalidTolerateUnreadyEndpoints", message }
}
