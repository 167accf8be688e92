//! `explain --history` and `explain --url`: reports about objects as they were recorded.

use std::process::ExitCode;

use kube_endpoint_model::LabelSelector;

use super::{print, report::Reports};
use crate::{
    args::{ExplainArgs, GlobalArgs, Kind, Target, Targets},
    connection::namespace_offline,
    fetch::Objects,
    output::Output,
    past::Past,
    source::Source,
};

/// Prints the reports, without a request to the API server. The status is 1 if an object did not exist.
pub(super) async fn run(
    global: &GlobalArgs,
    args: &ExplainArgs,
    output: Output,
    source: Source<'_>,
) -> anyhow::Result<ExitCode> {
    let namespace = namespace_offline(global).await;
    let targets = args.targets(global).map_err(anyhow::Error::msg)?;
    let Past { objects, .. } = Past::read(global, source, Some(&namespace)).await?;
    let targets = match targets {
        Targets::Named(targets) => targets,
        Targets::Selected { kind, selector } => selected(&objects, kind, selector.as_deref())?,
    };
    objects.warn();
    let reports = Reports::of(&objects.world(global.settings()), &namespace, &targets);
    let (_, status) = print(&reports, &targets, &namespace, output)?;
    Ok(status)
}

/// Returns the objects of a kind that a label selector selects, sorted by name.
fn selected(objects: &Objects, kind: Kind, selector: Option<&str>) -> anyhow::Result<Vec<Target>> {
    let selector = LabelSelector::parse(selector.unwrap_or_default())?;
    let labelled: Vec<_> = match kind {
        Kind::Service => objects.services.iter().map(|it| (&it.name, &it.labels)).collect(),
        Kind::Pod => objects.pods.iter().map(|it| (&it.name, &it.labels)).collect(),
        Kind::EndpointSlice => objects.slices.iter().map(|it| (&it.metadata.name, &it.metadata.labels)).collect(),
        Kind::Endpoints => objects.endpoints.iter().map(|it| (&it.metadata.name, &it.metadata.labels)).collect(),
    };
    let matching = labelled.into_iter().filter(|(_, labels)| selector.matches(labels));
    let mut targets: Vec<_> = matching.map(|(name, _)| Target { kind, name: name.to_string() }).collect();
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(targets)
}
