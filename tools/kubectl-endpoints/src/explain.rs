//! `explain`: reports about Services, Pods, `EndpointSlices` and Endpoints.

mod anchors;
mod recorded;
mod report;
mod watch;

use std::process::ExitCode;

use self::{anchors::Anchors, report::Reports};
use crate::{
    args::{ExplainArgs, GlobalArgs, Target, Targets},
    connection::Connection,
    fetch::{Fetch, Freshness, Objects},
    output::{self, Output},
    progress::Progress,
    source::Source,
};

/// Prints the reports. The status is 1 if an object does not exist.
pub(crate) async fn run(global: &GlobalArgs, args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let output = Output::new(global);
    if let Some(source) = Source::of(global) {
        return recorded::run(global, args, output, source).await;
    }
    let connection = Connection::open(global).await?;
    let progress = Progress::new();
    let fetch = Fetch {
        client: &connection.client,
        namespace: Some(&connection.namespace),
        freshness: Freshness::MostRecent,
        progress: &progress,
    };
    let targets = args.targets(global).map_err(anyhow::Error::msg)?;
    let reading = async {
        let targets = resolve(&fetch, targets).await?;
        let mut anchors = Anchors::read(&connection, &targets).await?;
        let mut objects = fetch.objects(&anchors.needs).await?;
        anchors.complete(&connection, &targets, &mut objects).await?;
        let (reports, detailed) = explain(global, &connection, &targets, &objects, &mut anchors).await;
        detailed?;
        Ok::<_, anyhow::Error>((targets, anchors, objects, reports))
    };
    let (targets, mut anchors, objects, reports) = progress.show_during(Box::pin(reading)).await?;

    objects.warn();
    anchors.details.warn();
    let (rendered, status) = print(&reports, &targets, &connection.namespace, output)?;
    if args.watch && status == ExitCode::SUCCESS && !targets.is_empty() {
        let unknown = objects.unknown.clone();
        watch::run(global, &connection, output, &targets, &mut anchors, unknown, rendered).await?;
    }
    Ok(status)
}

/// Prints the reports. Returns what was printed on standard output, and the exit status.
fn print(reports: &Reports, targets: &[Target], namespace: &str, output: Output) -> anyhow::Result<(String, ExitCode)> {
    if targets.is_empty() {
        output::message("", format_args!("No objects found in namespace {namespace}."));
        return Ok((String::new(), ExitCode::SUCCESS));
    }
    let rendered = reports.render(output)?;
    output::print(&rendered)?;
    for Target { kind, name } in &reports.missing {
        output::message("error: ", format_args!("{} {name:?} not found", kind.plural()));
    }
    let status = if reports.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    Ok((rendered, status))
}

async fn resolve(fetch: &Fetch<'_>, targets: Targets) -> anyhow::Result<Vec<Target>> {
    let (kind, selector) = match targets {
        Targets::Named(targets) => return Ok(targets),
        Targets::Selected { kind, selector } => (kind, selector),
    };
    let names = fetch.names_of(kind, selector.as_deref()).await?;
    Ok(names.into_iter().map(|name| Target { kind, name }).collect())
}

/// Explains the targets. Reads details of Pods that they need and that have changed since the last call; after an error, which is
/// returned too, the reports lack some.
async fn explain(
    global: &GlobalArgs,
    connection: &Connection,
    targets: &[Target],
    objects: &Objects,
    anchors: &mut Anchors,
) -> (Reports, anyhow::Result<()>) {
    let mut world = objects.world(global.settings());
    let wanted = report::pods_to_detail(&world, &connection.namespace, targets);
    let detailed = anchors.details.read(&connection.client, &wanted, objects).await;
    anchors.details.add_to(&mut world);
    (Reports::of(&world, &connection.namespace, targets), detailed)
}
