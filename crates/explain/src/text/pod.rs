//! Text form of the report of a Pod.

use kube_endpoint_model::Code;

use super::TextStyle;
use super::output::Output;
use super::{rows, unknown};
use crate::counts::thousands;
use crate::report::{Kind, PodReport, PodServicesReport, PodState};

/// Returns the text form of the report of a Pod: a headline with the number of its Services, then Services, near
/// misses, and what is unknown.
pub fn pod(report: &PodServicesReport, style: TextStyle) -> String {
    let mut output = Output::new(style);
    output.text(&report.object.name).text(": ").text(&services(report)).end_line();
    let services = report.services.iter().map(|service| (service.service.as_str(), &service.pod));
    rows::write(&mut output, services, &report.near_misses, style);
    unknown::write(&mut output, &report.unknown);
    output.finish()
}

fn services(report: &PodServicesReport) -> String {
    if report.services.is_empty() {
        let unknown = report.unknown.contains(&Kind::Service);
        return if unknown { "Services unknown" } else { "no Service selects it" }.to_owned();
    }
    let number = |matches: fn(&PodReport) -> bool| report.services.iter().filter(|it| matches(&it.pod)).count();
    let endpoints = number(|pod| pod.state != PodState::LeftOut);
    let serving = number(|pod| {
        pod.state == PodState::Serving && pod.reasons.iter().all(|reason| reason.code != Code::PodNotWritten)
    });
    let selected = thousands(report.services.len());
    let text = format!("endpoint of {} of {selected} Services that select it", thousands(endpoints));
    if serving < endpoints { format!("{text}, serving in {}", thousands(serving)) } else { text }
}
