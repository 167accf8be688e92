//! The reports, and their output.

use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::{ObjectRef, ObjectReport, PodServicesReport, ServiceReport, TextStyle, World, text};
use serde::Serialize;

use crate::{
    args::{Kind, Target},
    output::{Items, Output},
};

/// Maximum number of Pods whose details are read for one Service.
const DETAILED_PODS: usize = 20;

/// Explanation of one object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Report {
    Service(ServiceReport),
    Pod(PodServicesReport),
    /// Of a slice or an Endpoints object.
    Object(ObjectReport),
}

/// Explanations of all targets.
#[derive(Debug)]
pub(super) struct Reports {
    reports: Vec<Report>,
    /// Targets that do not exist.
    pub(super) missing: Vec<Target>,
}

impl Report {
    fn object(&self) -> &ObjectRef {
        match self {
            Report::Service(report) => &report.object,
            Report::Pod(report) => &report.object,
            Report::Object(report) => &report.object,
        }
    }

    fn text(&self, style: TextStyle) -> String {
        match self {
            Report::Service(report) => text::service(report, style),
            Report::Pod(report) => text::pod(report, style),
            Report::Object(report) => text::object(report, style),
        }
    }
}

/// Returns the Pods whose details make the explanation of the targets better.
pub(super) fn pods_to_detail(world: &World, namespace: &str, targets: &[Target]) -> Vec<ObjectKey> {
    let mut pods = Vec::new();
    for Target { kind, name } in targets {
        let key = ObjectKey::new(namespace, name.as_str());
        match kind {
            Kind::Service => pods.extend(world.pods_to_detail(&key, DETAILED_PODS)),
            Kind::Pod => pods.push(key),
            Kind::EndpointSlice | Kind::Endpoints => {}
        }
    }
    pods.sort();
    pods.dedup();
    pods
}

impl Reports {
    pub(super) fn of(world: &World, namespace: &str, targets: &[Target]) -> Reports {
        let mut reports = Reports { reports: Vec::new(), missing: Vec::new() };
        for target in targets {
            let key = ObjectKey::new(namespace, target.name.as_str());
            let report = match target.kind {
                Kind::Service => world.service(&key).map(Report::Service),
                Kind::Pod => world.pod(&key).map(Report::Pod),
                Kind::EndpointSlice => world.slice(&key).map(Report::Object),
                Kind::Endpoints => world.endpoints(&key).map(Report::Object),
            };
            match report {
                Some(report) => reports.reports.push(report),
                None => reports.missing.push(target.clone()),
            }
        }
        reports
    }

    /// Returns the output. A single target is a document of its own; several are in a list, also if some do not exist.
    pub(super) fn render(&self, output: Output) -> anyhow::Result<String> {
        let Reports { reports, missing } = self;
        let objects: Vec<&ObjectRef> = reports.iter().map(Report::object).collect();
        match (reports.as_slice(), missing.as_slice()) {
            ([], [_]) => Ok(String::new()),
            ([report], []) => output.render(report, &objects, |style| report.text(style)),
            _ => output.render(&Items { items: reports }, &objects, |style| {
                let texts: Vec<String> =
                    reports.iter().map(|report| report.text(style).trim_end().to_owned()).collect();
                texts.join("\n\n")
            }),
        }
    }
}
