//! Explains Pods, slices and Endpoints objects.

use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{Cluster as _, Code, ObjectKey};
use kube_wire::Object as _;

use crate::mirror::{Mirroring, mirror_reasons, not_mirrored};
use crate::near_miss::services_near;
use crate::plans::SelectorPlans;
use crate::pod_report::pod_report;
use crate::report::{Kind, ObjectRef, ObjectReport, PodOfService, PodServicesReport, Reason};
use crate::service_report::compare_with_slices;
use crate::slice_findings::{endpoints_finding, finding, slice_findings};
use crate::world::World;
use crate::written::{PlannedStates, written_endpoints, written_slice};

impl World {
    /// Explains what a Pod is in the Services of its namespace; `None` if the world has no Pod of that name.
    pub fn pod(&self, key: &ObjectKey) -> Option<PodServicesReport> {
        let pod = self.pods.get(key)?;
        let selecting = self.selectors.select(&pod.namespace, &pod.labels);
        let ratios = self.ratios();
        let services = selecting.into_iter().filter_map(|name| {
            let service = self.services.get(&ObjectKey { namespace: key.namespace.clone(), name })?;
            let plans = SelectorPlans::new(self, &ratios, &service.key())?;
            let mut pod = [pod_report(self, service, &plans.pods, pod, plans.decisions.of(pod))];
            if let Some(traffic) = self.traffic(service) {
                compare_with_slices(&mut pod, &traffic);
            }
            let [pod] = pod;
            Some(PodOfService { service: service.name.to_string(), pod })
        });
        Some(PodServicesReport {
            object: ObjectRef::new(Kind::Pod, key),
            services: services.collect(),
            near_misses: services_near(self, pod),
            unknown: self.unknown(),
        })
    }

    /// Explains a slice; `None` if the world has none of that name.
    pub fn slice(&self, key: &ObjectKey) -> Option<ObjectReport> {
        let slice = self.slices.get(key)?;
        let service = slice.service_name().map(|name| ObjectKey::new(key.namespace.clone(), name));
        let planned = service.as_ref().map(|service| {
            let plans = SelectorPlans::new(self, &self.ratios(), service);
            PlannedStates::new(plans.as_ref(), &Mirroring::new(self, service))
        });
        let written = written_slice(self, slice, &planned.unwrap_or_default());
        Some(ObjectReport {
            object: ObjectRef::new(Kind::EndpointSlice, key),
            service: slice.service_name().map(str::to_owned),
            findings: slice_findings(self, slice, &written),
            written,
            mirrors: Vec::new(),
            unknown: self.unknown(),
        })
    }

    /// Explains an Endpoints object; `None` if the world has none of that name.
    pub fn endpoints(&self, key: &ObjectKey) -> Option<ObjectReport> {
        let endpoints = self.endpoints.get(key)?;
        let service = self.services.get(key);
        let plans = SelectorPlans::new(self, &self.ratios(), key);
        let mirroring = Mirroring::new(self, key);
        let mut reasons: Vec<Reason> = mirror_reasons(self, key, &mirroring);
        if let Some(reason) = mirroring.not_mirrored()
            && reasons.is_empty()
        {
            reasons.push(not_mirrored(reason));
        }
        let object = ObjectRef::new(Kind::Endpoints, key);
        let mirrors = self.slices(key, MIRRORING_CONTROLLER);
        let written = written_endpoints(self, endpoints, plans.as_ref());
        let orphaned = endpoints_finding(self, key, &written);
        if orphaned.is_some() && service.is_none() {
            // A Service of its name, which this reason asks for, would get the addresses of Pods that are gone.
            reasons.retain(|reason| reason.code != Code::MirrorNoService);
        }
        let findings = reasons.into_iter().map(|reason| finding(object.clone(), reason));
        Some(ObjectReport {
            service: service.map(|service| service.name.to_string()),
            mirrors: mirrors.iter().map(|slice| slice.metadata.name.to_string()).collect(),
            findings: findings.chain(orphaned).collect(),
            written,
            object,
            unknown: self.unknown(),
        })
    }
}
