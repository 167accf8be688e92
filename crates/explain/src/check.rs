//! Findings about all objects of a world.

use std::collections::BTreeMap;

use kube_endpoint_model::{Code, ObjectKey};
use kube_wire::Object as _;

use crate::mirror::mirror_reasons;
use crate::near_miss::Unselected;
use crate::plans::Mirroring;
use crate::report::{Finding, Kind, ObjectRef, PodReport, Reason, ServiceReport, Severity};
use crate::service_report::{finding, slice_finding};
use crate::world::World;
use crate::written::{PlannedStates, written_slice};

/// Number of Pods that a finding names.
const NAMED_PODS: usize = 3;

impl World {
    /// Returns the findings about all Services, slices and Endpoints objects that are at least warnings, by object.
    ///
    /// The Pods of one Service with the same reason are one finding, which names the first three.
    pub fn check(&self) -> Vec<Finding> {
        let ratios = self.ratios();
        let unselected = Unselected::new(self, self.pods());
        let mut findings = Vec::new();
        for service in self.services() {
            let report = self.service_with(service, &ratios, &unselected);
            findings.extend(of_pods(&report));
            findings.extend(report.findings);
        }
        findings.extend(self.without_service());
        findings.retain(|finding| finding.severity > Severity::Info);
        findings.sort_by(|a, b| {
            (&a.object, std::cmp::Reverse(a.severity), &a.reason).cmp(&(
                &b.object,
                std::cmp::Reverse(b.severity),
                &b.reason,
            ))
        });
        findings
    }

    /// Returns the findings about slices and Endpoints objects whose Service does not exist.
    fn without_service(&self) -> Vec<Finding> {
        if self.is_unknown(Kind::Service) {
            return Vec::new();
        }
        let mut findings = Vec::new();
        for slice in self.all_slices() {
            let service = slice.service_name().map(|name| ObjectKey::new(slice.metadata.namespace.clone(), name));
            if service.is_some_and(|service| self.service_of(&service).is_none()) {
                let written = written_slice(self, slice, &PlannedStates::default());
                findings.extend(slice_finding(&slice.metadata.namespace, &written));
            }
        }
        for endpoints in self.all_endpoints() {
            let key = endpoints.key();
            if self.service_of(&key).is_none() {
                let reasons = mirror_reasons(self, &key, &Mirroring::new(self, &key));
                let object = ObjectRef::new(Kind::Endpoints, &key);
                findings.extend(reasons.into_iter().map(|reason| finding(object.clone(), reason)));
            }
        }
        findings
    }
}

/// Returns the findings about the Pods, near misses and hints of a Service.
fn of_pods(report: &ServiceReport) -> Vec<Finding> {
    let mut by_code: BTreeMap<Code, Vec<(&PodReport, &Reason)>> = BTreeMap::new();
    for pod in &report.pods {
        for reason in &pod.reasons {
            by_code.entry(reason.code).or_default().push((pod, reason));
        }
    }
    let total = report.pods.len();
    let pods = by_code.into_iter().map(|(code, pods)| {
        let names: Vec<&str> = pods.iter().take(NAMED_PODS).map(|(pod, _)| pod.name.as_str()).collect();
        let more = pods.len().saturating_sub(NAMED_PODS);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let message = match &pods[..] {
            [(pod, reason)] => format!("Pod {}: {}", pod.name, reason.message),
            _ => format!("{} of {total} Pods ({}{more}): {}", pods.len(), names.join(", "), pods[0].1.message),
        };
        Reason { code, message }
    });
    let near = report
        .near_misses
        .iter()
        .map(|near| Reason { code: near.reason.code, message: format!("Pod {}: {}", near.name, near.reason.message) });
    let hints = report.hints.reasons.iter().cloned();
    let object = || report.object.clone();
    pods.chain(near.take(NAMED_PODS)).chain(hints).map(|reason| finding(object(), reason)).collect()
}
