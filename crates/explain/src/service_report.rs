//! Explains a Service.

use std::sync::Arc;

use kube_endpoint::MAX_ADDRESSES;
use kube_endpoint_model::{Cluster as _, Code, ObjectKey, Pod, Service, Write};
use kube_topology::{HintPolicy, ZoneRatios};
use kube_wire::Object as _;

use crate::duplicates;
use crate::hints::{hints_report, unknown_policy};
use crate::mirror::{Mirroring, mirror_reasons};
use crate::near_miss::Unselected;
use crate::plans::{SelectorPlans, are_known};
use crate::pod_report::pod_report;
use crate::report::{
    Finding, HintsReport, Kind, LastWrite, NearMiss, ObjectRef, PodReport, PodState, Reason, ServiceReport, Severity,
    WrittenObject,
};
use crate::slice_findings::{endpoints_finding, finding, slice_findings};
use crate::traffic::Traffic;
use crate::world::World;
use crate::written::{PlannedStates, written_endpoints, written_slice};

impl World {
    /// Explains a Service; `None` if the world has none of that name.
    pub fn service(&self, key: &ObjectKey) -> Option<ServiceReport> {
        let service = self.services.get(key)?;
        let unselected = Unselected::new(self, self.pods_in(&key.namespace));
        Some(self.service_with(service, &self.ratios(), &unselected))
    }

    /// Explains a Service without the Pods that its selector almost matches; `None` if the world has none of that name. The
    /// cost depends on the Pods and slices of the Service, not on those of the namespace.
    pub fn service_without_near_misses(&self, key: &ObjectKey) -> Option<ServiceReport> {
        let service = self.services.get(key)?;
        let ratios = match HintPolicy::of(service) {
            HintPolicy::Topology => self.ratios(),
            HintPolicy::Traffic(_) | HintPolicy::None => ZoneRatios::default(),
        };
        Some(self.service_with(service, &ratios, &Unselected::default()))
    }

    /// Returns the Pods of a Service whose [`PodDetails`](crate::PodDetails) would complete its explanation, at most
    /// `limit`: those that are not ready, finished or without an address.
    pub fn pods_to_detail(&self, service: &ObjectKey, limit: usize) -> Vec<ObjectKey> {
        let Some(service) = self.services.get(service) else { return Vec::new() };
        let mut pods = self.selected_pods(service);
        pods.retain(|pod| !pod.terminating && (!pod.ready || pod.finished || pod.pod_ips.is_empty()));
        pods.truncate(limit);
        pods.iter().map(|pod| pod.key()).collect()
    }

    /// Returns which endpoints receive the traffic of a Service; `None` while slices are unknown.
    pub(crate) fn traffic<'a>(&'a self, service: &'a Service) -> Option<Traffic<'a>> {
        (!self.is_unknown(Kind::EndpointSlice)).then(|| Traffic::new(service, self.slices_of(&service.key())))
    }

    pub(crate) fn service_with(
        &self,
        service: &Arc<Service>,
        ratios: &ZoneRatios,
        unselected: &Unselected<'_>,
    ) -> ServiceReport {
        let key = service.key();
        let object = ObjectRef::new(Kind::Service, &key);
        let plans = SelectorPlans::new(self, ratios, &key);
        let mirroring = Mirroring::new(self, &key);
        let planned = PlannedStates::new(plans.as_ref(), &mirroring);

        let report_of = |plans: &SelectorPlans, pod: &Arc<Pod>| {
            pod_report(self, service, &plans.pods, pod, plans.decisions.of(pod))
        };
        let mut pods: Vec<PodReport> = match &plans {
            Some(plans) => plans.pods.iter().map(|pod| report_of(plans, pod)).collect(),
            None => Vec::new(),
        };
        let mut slices: Vec<WrittenObject> = Vec::new();
        let mut findings_of_slices: Vec<Finding> = Vec::new();
        for slice in self.slices_of(&key) {
            let written = written_slice(self, slice, &planned);
            findings_of_slices.extend(slice_findings(self, slice, &written));
            slices.push(written);
        }
        slices.sort_by(|a, b| (&a.address_type, &a.name).cmp(&(&b.address_type, &b.name)));
        let endpoints = self.endpoints.get(&key).map(|it| written_endpoints(self, it, plans.as_ref()));
        let traffic = self.traffic(service);
        let would_serve = pods.iter().filter(|pod| pod.state == PodState::Serving).count();
        let serving = traffic.as_ref().map_or(would_serve, |traffic| compare_with_slices(&mut pods, traffic));
        let hints = match &plans {
            Some(plans) if !self.is_unknown(Kind::Node) => hints_report(self, service, &plans.slices.plan, &pods),
            _ => HintsReport { policy: None, reasons: Vec::new() },
        };
        let near_misses = unselected.near_misses(service);

        let mut reasons: Vec<Reason> = selects_nothing(self, service, &pods, &near_misses).into_iter().collect();
        reasons.extend(unknown_policy(service));
        reasons.extend(duplicates::of_pods(&pods));
        if plans.is_some() {
            reasons.extend(duplicates::of_slices(self.slices_of(&key)));
        }
        reasons.extend(terminating(service));
        if let Some(traffic) = traffic.filter(|_| !service.external_name) {
            reasons.extend(traffic.unserved_ports());
            reasons.extend(traffic.nothing_receives().filter(|_| service.selector.is_none()));
        }
        if are_known(self, Kind::EndpointSlice) {
            reasons.extend(slices_differ(self, plans.as_ref(), &mirroring, &slices));
        }
        if are_known(self, Kind::Endpoints) {
            reasons.extend(plans.as_ref().and_then(|plans| endpoints_differ(self, plans, endpoints.as_ref())));
            let exists = endpoints.is_some() || !self.settings.endpoints_retired;
            reasons.extend(plans.as_ref().filter(|_| exists).and_then(truncated));
        }
        // Does not depend on Pods.
        reasons.extend(mirror_reasons(self, &key, &mirroring));
        reasons.extend(ignored_by_controllers(service));
        let mut findings: Vec<Finding> = reasons.into_iter().map(|reason| finding(object.clone(), reason)).collect();
        findings.extend(findings_of_slices);
        findings.extend(endpoints.as_ref().and_then(|it| endpoints_finding(self, &key, it)));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        ServiceReport {
            serving,
            would_serve,
            object,
            pods,
            near_misses,
            slices,
            endpoints,
            hints,
            findings,
            unknown: self.unknown(),
        }
    }
}

impl ServiceReport {
    /// Returns all reasons: of the Pods, of those that the selector almost matches, of the Service and its objects, and
    /// for missing hints.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        let of_pods = self.pods.iter().flat_map(|pod| &pod.reasons);
        let near = self.near_misses.iter().map(|near| &near.reason);
        of_pods.chain(near).chain(self.findings.iter().map(|finding| &finding.reason)).chain(&self.hints.reasons)
    }

    /// Returns the reason to look at first: why the Service selects no Pod; otherwise the most serious reason of the
    /// Pods that do not serve; otherwise the most serious finding, reason of a serving Pod, Pod that the selector almost
    /// matches, or reason for missing hints.
    /// `None` if everything is as it should be.
    pub fn first_cause(&self) -> Option<&Reason> {
        let first_of = |state: fn(&PodReport) -> bool| {
            let reasons = self.pods.iter().filter(|pod| state(pod)).filter_map(|pod| pod.reasons.first());
            // The first of several with the same severity.
            reasons.rev().max_by_key(|reason| reason.code.severity())
        };
        let selects_nothing = || self.pods.is_empty().then(|| self.near_misses.first()).flatten().map(|it| &it.reason);
        let finding = self.findings.first().map(|finding| &finding.reason);
        let expected = |reason: &&Reason| reason.code.severity() > Severity::Info;
        selects_nothing()
            .or_else(|| first_of(|pod| pod.state != PodState::Serving).filter(expected))
            .or_else(|| finding.filter(expected))
            .or_else(|| first_of(|pod| pod.state == PodState::Serving).filter(expected))
            .or_else(|| self.near_misses.first().map(|it| &it.reason))
            .or_else(|| self.hints.reasons.first())
            .or_else(|| first_of(|pod| pod.state != PodState::Serving))
            .or(finding)
            .or_else(|| first_of(|pod| pod.state == PodState::Serving))
    }
}

/// Adds a reason to each Pod that should serve and receives no traffic, because no slice has it yet. Returns the number of
/// Pods that receive traffic.
pub(crate) fn compare_with_slices(pods: &mut [PodReport], traffic: &Traffic<'_>) -> usize {
    let receiving = traffic.pods();
    for pod in pods.iter_mut().filter(|pod| pod.state == PodState::Serving && !receiving.contains(pod.name.as_str())) {
        let message = "ready, and in no slice that clients use".to_owned();
        pod.reasons.push(Reason { code: Code::PodNotWritten, message });
    }
    pods.iter().filter(|pod| receiving.contains(pod.name.as_str())).count()
}

fn terminating(service: &Service) -> Option<Reason> {
    let message = "being deleted, and kept by a finalizer: slices are updated, but none is created";
    service.terminating.then(|| Reason { code: Code::ServiceTerminating, message: message.to_owned() })
}

/// Returns why the slice controller and the Endpoints controller ignore a Service.
fn ignored_by_controllers(service: &Service) -> Option<Reason> {
    let (code, message) = if service.external_name {
        (Code::ExternalName, "alias of an external name: no controller makes endpoints for it")
    } else if service.selector.is_none() {
        (Code::NoSelector, "no selector: its endpoints are those that other programs write")
    } else {
        return None;
    };
    Some(Reason { code, message: message.to_owned() })
}

/// Returns the selector of a Service that selects no Pod.
fn selects_nothing(world: &World, service: &Service, pods: &[PodReport], near_misses: &[NearMiss]) -> Option<Reason> {
    let selector = service.selector.as_ref().filter(|_| !service.external_name)?;
    if !pods.is_empty() || world.is_unknown(Kind::Pod) {
        return None;
    }
    let pairs: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let count = world.pods_in(&service.namespace).count();
    let near = match near_misses.len() {
        0 => String::new(),
        1 => "; one almost matches".to_owned(),
        near => format!("; {near} almost match"),
    };
    let message = format!("selector {} matches none of {count} Pods of the namespace{near}", pairs.join(","));
    Some(Reason { code: Code::NoPodSelected, message })
}

/// Returns how the slices of a Service differ from what the controllers would write.
fn slices_differ(
    world: &World,
    plans: Option<&SelectorPlans>,
    mirroring: &Mirroring,
    slices: &[WrittenObject],
) -> Option<Reason> {
    let mirror_plan = mirroring.plan().map(|mirror| &mirror.slices.plan);
    let all = || plans.map(|it| &it.slices.plan).into_iter().chain(mirror_plan);
    let types = || all().flat_map(|plan| &plan.types);
    let superfluous = mirroring.superfluous().len() + all().map(|plan| plan.unsupported.len()).sum::<usize>();
    let counts = [
        (types().map(|plan| plan.creates().count()).sum::<usize>(), "to create"),
        (types().map(|plan| plan.updates().count()).sum(), "to update"),
        (types().map(|plan| plan.deletes().count()).sum::<usize>() + superfluous, "to delete"),
    ];
    let slices_changed = listed(&counts)?;
    let counts = [
        (types().map(|plan| plan.added).sum::<usize>(), "to add"),
        (types().map(|plan| plan.updated).sum(), "to change"),
        (types().map(|plan| plan.removed).sum(), "to remove"),
    ];
    let endpoints = listed(&counts).map(|text| format!("; endpoints: {text}")).unwrap_or_default();
    let newest = slices.iter().filter_map(|slice| slice.last_write.as_ref()).max_by_key(|write| write.time);
    let message = format!("slices: {slices_changed}{endpoints}{}", written_at(world, newest));
    Some(Reason { code: Code::SlicesDiffer, message })
}

fn endpoints_differ(world: &World, plans: &SelectorPlans, current: Option<&WrittenObject>) -> Option<Reason> {
    let verb = match plans.endpoints.as_ref()? {
        Write::Create(_) => "to create",
        Write::Update { .. } => "to update",
        Write::Delete(_) => "to delete",
    };
    let written = written_at(world, current.and_then(|it| it.last_write.as_ref()));
    Some(Reason { code: Code::EndpointsDiffer, message: format!("Endpoints object {verb}{written}") })
}

fn truncated(plans: &SelectorPlans) -> Option<Reason> {
    let addresses = plans.addresses;
    let message = || format!("{MAX_ADDRESSES} of {addresses} addresses are in the Endpoints object");
    (addresses > MAX_ADDRESSES).then(|| Reason { code: Code::EndpointsTruncated, message: message() })
}

/// Joins counts that are not zero; `None` if all are.
fn listed(counts: &[(usize, &str)]) -> Option<String> {
    let shown: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn written_at(world: &World, write: Option<&LastWrite>) -> String {
    write.map(|it| format!("; last written {} by {}", world.shown(it.time), it.manager)).unwrap_or_default()
}
