//! The binary `controller-manager`: parses the flags, handles signals and runs the controllers. See `--help`.

use std::io::Write;
use std::process::{ExitCode, exit};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use endpoint_controller_manager::{CommandLine, UsageError, run, start_logging};
use kube_controller_client::{Config, KubeconfigOptions};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Time from the first signal until the process is ended, whatever tasks are still running.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(4_800);

pub(crate) fn main() -> ExitCode {
    let command_line = match CommandLine::parse(std::env::args_os()) {
        Ok(command_line) => command_line,
        Err(UsageError::HelpOrVersion(text)) => {
            // An error means that standard output is closed; there is no other place to print to.
            let _ = std::io::stdout().write_all(text.as_bytes());
            return ExitCode::SUCCESS;
        }
        Err(error) => return report_failure(&anyhow::Error::from(error).context("see --help")),
    };
    start_logging(&command_line.settings.logging);
    let result = Runtime::new().context("cannot start the runtime").and_then(|runtime| {
        let result = runtime.block_on(Box::pin(work(command_line)));
        // Blocking tasks, such as a DNS lookup, cannot be cancelled; do not wait for them.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report_failure(&error),
    }
}

/// Prints the error and its causes as one line on standard error; returns the exit code 1.
fn report_failure(error: &anyhow::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "controller-manager: {error:#}");
    ExitCode::FAILURE
}

/// Exits with code 1 after [`SHUTDOWN_TIMEOUT`], even if the runtime is blocked and no timer of it fires.
fn exit_after_timeout() {
    thread::spawn(|| {
        #[expect(clippy::disallowed_methods, reason = "independent of the runtime, which may be blocked")]
        thread::sleep(SHUTDOWN_TIMEOUT);
        report_failure(&anyhow::anyhow!("still running {SHUTDOWN_TIMEOUT:?} after the request to stop"));
        exit(1);
    });
}

async fn work(command_line: CommandLine) -> anyhow::Result<()> {
    let CommandLine { mut settings, warnings, flags } = command_line;
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    for (flag, value) in &flags {
        tracing::debug!(flag, value, "FLAG");
    }
    settings.flags = flags;
    let config = match (&settings.client.kubeconfig, &settings.client.master) {
        (Some(path), server) => {
            let (path, server) = (Some(path.clone()), server.clone());
            Config::from_kubeconfig_with(KubeconfigOptions { path, server, ..KubeconfigOptions::default() }).await?
        }
        (None, Some(master)) => Config::from_url(master)?,
        (None, None) => Config::in_cluster().context("no --kubeconfig given, and not in a Pod")?,
    };
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "Starting");
    if !config.verifies_server() {
        tracing::warn!("The certificate of the API server is not checked: insecure-skip-tls-verify");
    }
    if settings.leader_election.is_none() {
        tracing::info!("Leader election is off: run one instance only");
    }

    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let signals = {
        let stop = stop.clone();
        async move {
            let mut received = async || {
                tokio::select! {
                    biased;
                    _ = terminate.recv() => "SIGTERM",
                    _ = interrupt.recv() => "SIGINT",
                }
            };
            // Not in the macro, which evaluates nothing where the level is disabled.
            let signal = received().await;
            tracing::info!(signal, "Stopping");
            stop.cancel();
            exit_after_timeout();
            received().await
        }
    };
    tokio::select! {
        // Signals are polled first: polling them is cheap, and a busy `run` must not delay them.
        biased;
        again = signals => anyhow::bail!("{again} received again, exiting"),
        ended = run(config, settings, stop) => Ok(ended?),
    }
}
