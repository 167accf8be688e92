//! `check`: lists what keeps Services from being served as intended.

use std::process::ExitCode;

use kube_endpoints_explain::{Finding, Kind, text};

use crate::{
    args::{Format, GlobalArgs},
    cluster::{Cluster, not_compared},
    output::{self, Items, Output, plural},
};

/// Prints the findings. The status is 1 if there are any, and 2 if slices or Endpoints could not be compared.
pub(crate) async fn run(args: &GlobalArgs) -> anyhow::Result<ExitCode> {
    let output = Output::new(args);
    let mut cluster = Cluster::read(args).await?;
    cluster.read_details().await?;
    let services = cluster.services().count();
    let Cluster { objects, world, selection, scope, .. } = cluster;
    let findings: Vec<Finding> = match &selection {
        Some(selection) => world.check_of(|service| selection.has_service(service)),
        None => world.check(),
    };
    let unknown: Vec<Kind> = objects.unknown.iter().copied().collect();
    let incomplete = not_compared(&objects);
    if findings.is_empty() && matches!(output.format, None | Some(Format::Wide)) {
        // As kubectl reports that there are no resources: standard output stays empty.
        let s = plural(services);
        let gap =
            if unknown.is_empty() { String::new() } else { format!(", not fully: {}", text::may_not_read(&unknown)) };
        output::message("", format_args!("No findings in {scope}: {services} Service{s} checked{gap}."));
        return Ok(incomplete.unwrap_or(ExitCode::SUCCESS));
    }
    let names: Vec<_> = findings.iter().map(|finding| &finding.object).collect();
    output::print(
        &output.render(&Items { items: &findings }, &names, |style| text::findings(&findings, &unknown, style))?,
    )?;
    let found = if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    Ok(incomplete.unwrap_or(found))
}
