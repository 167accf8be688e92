//! Findings about all objects of a world.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kube_endpoint_model::{Code, ObjectKey};
use kube_wire::Object as _;

use crate::counts::{count, named};
use crate::mirror::{Mirroring, mirror_reasons};
use crate::near_miss::Unselected;
use crate::pod_report::subject;
use crate::report::{Finding, Kind, ObjectRef, PodReport, Reason, ServiceReport, Severity};
use crate::slice_findings::{endpoints_finding, finding, slice_findings};
use crate::world::World;
use crate::written::{PlannedStates, written_endpoints, written_slice};

/// Number of near misses that are findings of a Service.
const NEAR_MISSES: usize = 3;

impl World {
    /// Returns the findings about all Services, slices and Endpoints objects that are at least warnings, by object.
    ///
    /// The Pods of one Service with the same reason are one finding, which names the first three. A Node that lacks what
    /// topology hints need is one finding, with the number of Services that have no hints for that reason.
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = self.check_services(|_| true);
        findings.extend(self.without_service());
        listed(findings)
    }

    /// Returns those findings of [`check`](Self::check) that are about some Services, and their Pods, slices and Endpoints
    /// objects. A finding about a Node counts only these Services.
    pub fn check_of(&self, selects: impl Fn(&ObjectKey) -> bool) -> Vec<Finding> {
        listed(self.check_services(selects))
    }

    fn check_services(&self, selects: impl Fn(&ObjectKey) -> bool) -> Vec<Finding> {
        let ratios = self.ratios();
        let unselected = Unselected::new(self, self.pods.values());
        let mut findings = Vec::new();
        let mut without_hints = Vec::new();
        for service in self.services().filter(|service| selects(&service.key())) {
            let report = self.service_with(service, &ratios, &unselected);
            findings.extend(of_pods(&report));
            for reason in &report.hints.reasons {
                match reason.code {
                    Code::HintsNodeInformation => without_hints.push((report.object.clone(), reason.clone())),
                    _ => findings.push(finding(report.object.clone(), reason.clone())),
                }
            }
            findings.extend(report.findings);
        }
        findings.extend(self.node_information(without_hints));
        findings
    }

    /// Returns one finding for all Services without hints because of Nodes: about the Node, or without one about the
    /// first Service.
    fn node_information(&self, services: Vec<(ObjectRef, Reason)>) -> Option<Finding> {
        let number = services.len();
        let (first, Reason { code, message }) = services.into_iter().next()?;
        let node = self.node_without_information();
        let object = node.map_or(first, |(name, _)| ObjectRef::new(Kind::Node, &ObjectKey::new("", name.clone())));
        let message = format!("{message}: no topology hints for {}", count(number, "Service"));
        Some(finding(object, Reason { code, message }))
    }

    /// Returns the findings about slices and Endpoints objects whose Service does not exist, or is not named.
    fn without_service(&self) -> Vec<Finding> {
        if self.is_unknown(Kind::Service) {
            return Vec::new();
        }
        let mut findings = Vec::new();
        for slice in self.slices.values() {
            let service = slice.service_name().map(|name| ObjectKey::new(slice.metadata.namespace.clone(), name));
            if service.is_none_or(|service| !self.services.contains_key(&service)) {
                let written = written_slice(self, slice, &PlannedStates::default());
                findings.extend(slice_findings(self, slice, &written));
            }
        }
        for endpoints in self.endpoints.values() {
            let key = endpoints.key();
            if self.services.contains_key(&key) {
                continue;
            }
            let left_over = endpoints_finding(self, &key, &written_endpoints(self, endpoints, None));
            if left_over.is_none() {
                let reasons = mirror_reasons(self, &key, &Mirroring::new(self, &key));
                let object = ObjectRef::new(Kind::Endpoints, &key);
                findings.extend(reasons.into_iter().map(|reason| finding(object.clone(), reason)));
            }
            findings.extend(left_over);
        }
        findings
    }
}

/// Returns the findings that are at least warnings, by object.
fn listed(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|finding| finding.severity > Severity::Info);
    findings.sort_by_cached_key(|it| (it.object.clone(), Reverse(it.severity), it.reason.clone()));
    findings
}

/// Returns the findings about the Pods and near misses of a Service.
fn of_pods(report: &ServiceReport) -> Vec<Finding> {
    let mut by_code: BTreeMap<Code, Vec<(&PodReport, &Reason)>> = BTreeMap::new();
    for pod in &report.pods {
        for reason in &pod.reasons {
            by_code.entry(reason.code).or_default().push((pod, reason));
        }
    }
    let total = report.pods.len();
    let pods = by_code.into_iter().map(|(code, reasons)| {
        // A Pod can lack several ports. Its reasons follow each other.
        let mut pods: Vec<&str> = reasons.iter().map(|(pod, _)| pod.name.as_str()).collect();
        pods.dedup();
        let subjects = match &pods[..] {
            [pod] => format!("Pod {pod}"),
            _ => format!("{} of {total} Pods ({})", pods.len(), named(&pods)),
        };
        Reason { code, message: format!("{subjects}: {}", messages(reasons.into_iter().map(|(_, reason)| reason))) }
    });
    let near = report
        .near_misses
        .iter()
        .map(|near| Reason { code: near.reason.code, message: format!("Pod {}: {}", near.name, near.reason.message) });
    pods.chain(near.take(NEAR_MISSES)).map(|reason| finding(report.object.clone(), reason)).collect()
}

/// Returns the messages of reasons with one code, those about one subject once; without subjects, the first.
fn messages<'a>(reasons: impl Iterator<Item = &'a Reason>) -> String {
    let mut subjects = BTreeSet::new();
    let first: Vec<&str> =
        reasons.filter(|reason| subjects.insert(subject(reason))).map(|reason| reason.message.as_str()).collect();
    first.join("; ")
}
