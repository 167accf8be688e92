//! `devcluster bench`: measures the controllers.
//!
//! There are two processes: this one, which has the API server with the cluster, changes objects and watches slices; and the
//! controllers, the only process that is measured.

pub(crate) mod args;
mod controller_process;
mod environment;
mod figure;
mod flips;
mod latencies;
mod observer;
mod outcome;
mod report;
mod scenario;
mod server;
mod settling;
mod usage;

use std::ffi::OsString;

use anyhow::{Context as _, bail};
use kube_controller_client::Config;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::{
    args::{BenchArgs, Output},
    environment::Environment,
    outcome::Outcome,
    report::Report,
};
use crate::output::print;

/// Runs the scenarios and reports the results, including partial ones if a scenario fails.
pub(crate) async fn run(args: BenchArgs, signal: CancellationToken) -> anyhow::Result<()> {
    let output = args.output;
    let (report, failed) = tokio::select! {
        measured = measure(args) => measured?,
        () = signal.cancelled() => bail!("terminated by a signal"),
    };
    let text = match output {
        Output::Table => report.table(),
        Output::Json => report.json()? + "\n",
    };
    print(&text)?;
    match failed {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

/// Runs the controllers like `controller-manager`.
pub(crate) async fn controller(flags: Vec<OsString>, signal: CancellationToken) -> anyhow::Result<()> {
    let program = OsString::from("controller-manager");
    let line = endpoint_controller_manager::CommandLine::parse(std::iter::once(program).chain(flags))?;
    let kubeconfig = line.settings.client.kubeconfig.as_ref().context("--kubeconfig is required")?;
    let config = Config::from_kubeconfig(kubeconfig).await?;
    Ok(endpoint_controller_manager::run(config, line.settings, signal).await?)
}

/// Runs the scenarios one after the other. Returns the report and the first error; a failed scenario does not stop the
/// others.
async fn measure(args: BenchArgs) -> anyhow::Result<(Report, Option<anyhow::Error>)> {
    let all = args.scenarios();
    let (runs, limit) = (args.runs, args.timeout);
    let controller = args.controller.as_ref().map_or("controller-manager of this workspace", |_| "another controller");
    let mut environment = Environment::new(args)?;
    let (mut outcomes, mut failed) = (Vec::new(), None);
    for (scenario, run) in all.into_iter().flat_map(|it| (1..=runs).map(move |run| (it, run))) {
        let name = format!("{scenario:?}").to_lowercase();
        environment.progress.set_prefix(name.clone());
        let measured = timeout(limit, scenario::run(&mut environment, scenario)).await;
        match measured.with_context(|| format!("not finished within {limit:?}")).flatten().context(name) {
            Ok(measured) => outcomes.extend(measured.into_iter().map(|it| Outcome { run, ..it })),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let report = Report { date: kube_ambient::now(), machine: machine(), controller: controller.to_owned(), outcomes };
    Ok((report, failed))
}

/// Returns a description of the machine: CPUs and operating system.
fn machine() -> String {
    use procfs::Current as _;
    let cpus = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let model = procfs::CpuInfo::current().ok();
    let model = model.and_then(|it| it.model_name(0).map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned());
    format!("{cpus} CPUs ({model}), {}", std::env::consts::OS)
}
