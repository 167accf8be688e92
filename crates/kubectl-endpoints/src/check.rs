//! `check`: lists what keeps Services from being served as intended.

use std::process::ExitCode;

use kube_endpoints_explain::{Finding, text};

use crate::{
    args::{Format, GlobalArgs},
    cluster::Cluster,
    output::{self, Items, Output},
};

/// Prints the findings. The status is 1 if there are any.
pub(crate) async fn run(args: &GlobalArgs) -> anyhow::Result<ExitCode> {
    let output = Output::new(args);
    let mut cluster = Cluster::read(args).await?;
    cluster.read_details().await?;
    let Cluster { objects, world, selection, scope, .. } = cluster;
    let mut findings: Vec<Finding> = world.check();
    if let Some(selection) = &selection {
        findings.retain(|finding| selection.has_finding(finding, &objects));
    }
    if findings.is_empty() && matches!(output.format, None | Some(Format::Wide)) {
        // As kubectl reports that there are no resources: standard output stays empty.
        output::message("", format_args!("No findings in {scope}: {} Services checked.", objects.services.len()));
        return Ok(ExitCode::SUCCESS);
    }
    let names: Vec<_> = findings.iter().map(|finding| &finding.object).collect();
    output::print(&output.render(&Items { items: &findings }, &names, |style| text::findings(&findings, style))?)?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
