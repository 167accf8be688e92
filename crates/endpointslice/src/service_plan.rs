//! The plan for the slices of one Service.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_endpoint_model::membership::{PodReason, addresses, exclusion};
use kube_endpoint_model::{
    AddressType, Cluster, Endpoint, EndpointSlice, IpFamily, ObjectKey, Pod, SelectingService, Service, ServiceState,
    UnusableAddresses, WarningEvent,
};
use kube_topology::{HintPolicy, ZoneRatios};

use crate::desired::{MissingNode, PodDecision, desired_endpoints_explained, family};
use crate::input::{Hints, Input, ServiceHints, hinted_types};
use crate::options::Options;
use crate::owner::Owner;
use crate::plan::{Plan, plan};
use crate::slice_labels::SliceLabels;
use crate::stored_zones::with_stored_zones;
use crate::withheld::Withheld;

/// What topology hints of a Service depend on beside its endpoints.
#[derive(Clone, Debug)]
pub struct HintState<'a> {
    /// Share of each zone in the CPU of all Nodes.
    pub ratios: &'a ZoneRatios,
    /// Address types that have hints; `None` for those of the stored slices.
    pub enabled: Option<BTreeSet<AddressType>>,
}

impl<'a> HintState<'a> {
    /// Returns the hints of a plan with this policy. `existing` are the stored slices.
    pub(crate) fn decide(self, policy: HintPolicy, existing: &[Arc<EndpointSlice>]) -> Hints<'a> {
        let enabled = self.enabled.unwrap_or_else(|| hinted_types(existing));
        Hints::Decide(ServiceHints { policy, ratios: self.ratios, enabled })
    }
}

/// Plan for the slices of one owner, and the objects that it is based on.
#[derive(Clone, Debug)]
pub struct OwnerPlan {
    /// Object that owns the slices.
    pub owner: Owner,
    /// Key under which the slices are found: [`Input::key`].
    pub key: ObjectKey,
    /// Slices that the plan changes.
    pub existing: Vec<Arc<EndpointSlice>>,
    /// Hint policy of the owner; `None` if the hints are left as they are.
    pub policy: Option<HintPolicy>,
    /// Writes of slices.
    pub plan: Plan,
}

/// What the slice controller does about one Service.
#[derive(Debug)]
pub struct ServicePlan {
    /// The Service that the plan is for.
    pub service: SelectingService,
    /// Plan for its slices; `None` if they stay as they are, because the Service does not select Pods.
    pub slices: Option<OwnerPlan>,
    /// Pods that the Service selects, by name.
    pub pods: Vec<Arc<Pod>>,
    /// Pods that are left out because their Node is not in the cluster (RC-11): the sync fails after its writes.
    pub missing_nodes: Vec<MissingNode>,
    /// Events about the Service.
    pub events: Vec<WarningEvent>,
    /// Whether objects are withheld, so that the plan has to be repeated.
    pub is_withheld: bool,
}

/// Plans the slices of the Service of a name (ES-1 to ES-5). Passes the decision about each selected Pod and address type
/// to `observe`.
///
/// The controller, previews and explanations all call it. Without [known Nodes](Cluster::knows_nodes), endpoints have
/// the zones of the stored slices, and hints that depend on Nodes stay.
pub fn service_plan(
    cluster: &impl Cluster,
    key: &ObjectKey,
    state: &mut ServiceState,
    options: &Options,
    hints: HintState<'_>,
    observe: impl FnMut(PodDecision<'_>),
) -> ServicePlan {
    let selecting = cluster.selecting_service(key);
    let is_withheld = selecting == SelectingService::Withheld;
    let none = ServicePlan {
        service: selecting.clone(),
        slices: None,
        pods: Vec::new(),
        missing_nodes: Vec::new(),
        events: Vec::new(),
        is_withheld,
    };
    // The slices of a Service without selector are kept (ES-2). Those of a deleted Service are deleted by the garbage
    // collector, through their owner references (ES-1).
    let SelectingService::Selects(service) = selecting else { return none };
    let mut existing = cluster.slices(key, &options.controller);
    // A slice that is being deleted does not count (ES-5).
    existing.retain(|slice| slice.metadata.deletion_timestamp.is_none());
    let (pods, withheld) = Withheld::read(cluster, &service, &existing);
    let desired = cluster.with_nodes(|nodes| {
        let node = |name: &str| nodes(name).or_else(|| withheld.nodes.get(name).cloned());
        desired_endpoints_explained(&service, &pods, node, observe)
    });

    let is_withheld = !withheld.is_empty();
    let (owner, address_types) = (Owner::service(&service), service.address_types());
    let (labels, policy) = (SliceLabels::for_service(&service), HintPolicy::of(&service));
    let trigger_time = state.observe(&service, &pods);
    let leaves_hints = policy == HintPolicy::Topology && !cluster.knows_nodes();
    let hints = if leaves_hints { Hints::Leave } else { hints.decide(policy, &existing) };
    let input =
        Input::new(&owner, &address_types, desired.groups, &existing).labels(&labels).trigger_time(trigger_time);
    let plan = if !cluster.knows_nodes() {
        plan(with_stored_zones(input, leaves_hints), hints, options)
    } else if withheld.pods.is_empty() {
        plan(input, hints, options)
    } else {
        let is_kept =
            |endpoint: &Endpoint| endpoint.target_ref.as_ref().is_some_and(|target| withheld.pods.contains(target));
        plan(input.keep(is_kept), hints, options)
    };
    ServicePlan {
        missing_nodes: desired.missing_nodes,
        events: state.changed_unusable(unusable(&service, &pods)).into_iter().collect(),
        is_withheld,
        slices: Some(OwnerPlan { owner, key: key.clone(), existing, policy: Some(policy), plan }),
        pods,
        ..none
    }
}

/// Returns the event about Pods that are left out because of their addresses (EC-50).
fn unusable(service: &Service, pods: &[Arc<Pod>]) -> Option<WarningEvent> {
    let families: Vec<IpFamily> = service.address_types().iter().filter_map(family).collect();
    // A Pod without an address of one family may have an unusable one of the other.
    let is_about_address = |it: &PodReason| matches!(it, PodReason::InvalidAddress | PodReason::UnusableAddress);
    let of_a_family =
        |pod: &Pod| families.iter().find_map(|family| addresses(pod, *family).err().filter(is_about_address));
    let reason = |pod: &Pod| exclusion(pod, true).or_else(|| of_a_family(pod));
    let unusable = UnusableAddresses::of(pods.iter().map(|pod| &**pod), reason);
    unusable.map(|unusable| unusable.event("EndpointSlices"))
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::Address;
    use rstest::rstest;

    use super::*;

    // EC-50
    #[rstest]
    #[case::both_families(&[IpFamily::V4, IpFamily::V6], &["10.0.0.1", "fd00::1"], None)]
    #[case::no_address_of_the_other_family(&[IpFamily::V4, IpFamily::V6], &["fd00::1"], None)]
    #[case::only_an_unusable_one(&[IpFamily::V4, IpFamily::V6], &["fe80::1"], Some("web-0 (fe80::1: a link-local address)"))]
    #[case::unusable_and_of_no_family(&[IpFamily::V4], &["fe80::1"], None)]
    fn unusable_addresses(#[case] families: &[IpFamily], #[case] ips: &[&str], #[case] expected: Option<&str>) {
        let service = Service { ip_families: families.to_vec(), ..Service::default() };
        let pod_ips = ips.iter().map(|ip| Address::new(ip)).collect();
        let pod = Pod { name: "web-0".into(), pod_ips, ready: true, ..Pod::default() };
        let message = unusable(&service, &[Arc::new(pod)]).map(|event| event.message);
        assert_eq!(message.as_deref().and_then(|it| it.split_once(": ")).map(|(_, pods)| pods), expected);
    }
}
