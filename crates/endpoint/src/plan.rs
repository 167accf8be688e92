//! The plan for the Endpoints object of one Service.

use std::sync::Arc;

use kube_endpoint_model::membership::PodOutcome;
use kube_endpoint_model::well_known::TOLERATE_UNREADY_ANNOTATION;
use kube_endpoint_model::{
    Cluster, Endpoints, LastMessage, ObjectKey, Pod, SelectingService, Service, TriggerTimes, WarningEvent, Write,
    references,
};

use crate::desired::{desired_subsets, write_to};
use crate::kept::kept_subsets;
use crate::legacy::Legacy;

/// What the controller remembers about one Service between plans.
#[derive(Debug, Default)]
pub struct State {
    trigger_times: TriggerTimes,
    /// Message about Pods that are left out because of their addresses.
    unusable: LastMessage,
}

impl State {
    /// Returns the state of a process that does not follow the Service, such as a preview: the trigger time of the stored
    /// object stays.
    pub fn unknown() -> State {
        State { trigger_times: TriggerTimes::unknown(), ..State::default() }
    }
}

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

/// Plans the Endpoints object of the Service of a name (EP-1, EP-3 to EP-18). Passes the decision about each selected Pod to
/// `observe`: whether it is an address, and why.
///
/// The controller, previews and explanations all call it.
pub fn plan(
    cluster: &impl Cluster,
    key: &ObjectKey,
    state: &mut State,
    legacy: Legacy,
    observe: impl FnMut(&Arc<Pod>, PodOutcome),
) -> Plan {
    let selecting = cluster.selecting_service(key);
    let is_withheld = selecting == SelectingService::Withheld;
    let mut plan = Plan { service: selecting, write: None, events: Vec::new(), pods: 0, is_withheld };
    let service = match &plan.service {
        SelectingService::Selects(service) => service,
        // An existing object is not changed (EC-24).
        SelectingService::Ignored | SelectingService::Withheld => return plan,
        SelectingService::Missing => {
            let left_over = cluster.endpoints(key).filter(|endpoints| cluster.is_left_over(endpoints));
            plan.write = left_over.map(Write::Delete);
            return plan;
        }
    };
    let (pods, current) = (cluster.selected_pods(service), cluster.endpoints(key));
    let kept = match &current {
        Some(current) if cluster.withholds_any() => {
            kept_subsets(current, |target| references::pod(target).is_some_and(|(pod, _)| cluster.withholds_pod(&pod)))
        }
        _ => Vec::new(),
    };
    plan.is_withheld = !kept.is_empty();
    plan.pods = pods.len();
    plan.events.extend(legacy.invalid_annotation(service).map(invalid_annotation));
    plan.events.extend(state.new_unusable(service, &pods, legacy));
    let trigger_time = state.trigger_times.observe(service, &pods);
    let subsets = desired_subsets(kept, service, &pods, legacy, observe);
    plan.write = write_to(service, subsets, current.as_ref(), trigger_time);
    plan
}

fn invalid_annotation(value: &str) -> WarningEvent {
    let message = format!("Annotation {TOLERATE_UNREADY_ANNOTATION} is ignored: {value:?} is not a boolean");
    WarningEvent { reason: "InvalidTolerateUnreadyEndpoints", message }
}

impl State {
    /// Returns the event about Pods that are left out because of their addresses (EC-50), if they have changed.
    fn new_unusable(&mut self, service: &Service, pods: &[Arc<Pod>], legacy: Legacy) -> Option<WarningEvent> {
        let event = legacy.unusable_addresses(service, pods).map(|unusable| unusable.event("Endpoints"));
        let is_new = self.unusable.is_new(event.as_ref().map(|event| &event.message));
        event.filter(|_| is_new)
    }
}
