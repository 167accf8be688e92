//! Demo and benchmark of the endpoint controllers: an embedded API server, the objects of a small web shop, simulated
//! kubelets, and the real controllers.
//!
//! - `devcluster` runs the tour: a scripted rollout and a node failure, whose effects on Endpoints and EndpointSlices
//!   are printed and checked, and three Services that are broken on purpose, which are explained.
//! - `devcluster serve` runs the API server with Deployments.
//! - `devcluster bench` measures CPU, memory, writes and latencies of the controllers.
//!
//! ```text
//!  tour     script --- apply, delete ---> API server <--- controllers, simulated kubelets
//!                                             |
//!           screen <--- view, expect <--- cluster (informers)
//!
//!  bench    environment ---> API server <--- controllers process (measured)
//! ```

mod args;
mod bench;
mod cluster;
mod host;
mod kubeconfig_file;
mod kubelet;
mod manifests;
mod output;
mod serve;
mod tour;
mod view;
mod workloads;

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use kube_controller_program::stop_on_signals;
use tracing::level_filters::LevelFilter;

use crate::{
    args::{Cli, Command},
    output::OutputError,
};

/// Runs the program with the arguments of the process and returns its exit status.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // `--help` and `--version`: printed to standard output, with exit status 0.
        Err(help) if !help.use_stderr() => help.exit(),
        Err(error) => {
            let text = error.to_string();
            let message = text.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
            print_error(&format!("{} (see --help)", message.strip_prefix("error: ").unwrap_or(&message)));
            return ExitCode::from(2);
        }
    };
    log_to_stderr(&cli);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has seen enough, such as `head`.
        Err(error) if has_lost_its_reader(&error) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Returns whether standard output is a pipe whose reader has ended. A connection that breaks is another error.
fn has_lost_its_reader(error: &anyhow::Error) -> bool {
    error.chain().any(|it| it.downcast_ref().is_some_and(OutputError::is_broken_pipe))
}

/// Prints an error to standard error as one line. Failure to print is ignored; the exit status still reports the error.
fn print_error(message: &str) {
    let text = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let _ = writeln!(io::stderr(), "devcluster: {text}");
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let Cli { command, tour, verbose: _ } = cli;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let signal = stop_on_signals()?;
        match command {
            Some(Command::Serve(args)) => serve::run(args, signal).await,
            Some(Command::Bench(args)) => bench::run(args, signal).await,
            Some(Command::BenchController { flags }) => bench::controller(flags, signal).await,
            None => tour::run(tour, signal).await,
        }
    })
}

/// Sends logs to standard error, so that standard output contains only results.
fn log_to_stderr(cli: &Cli) {
    let level = match (cli.verbose, &cli.command) {
        // Controllers log retried write conflicts as warnings. They are normal and would look like failures within the
        // tour; real failures end the tour.
        (0, None) => LevelFilter::ERROR,
        (0, Some(_)) => LevelFilter::WARN,
        (1, _) => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(colour).with_max_level(level).init();
}
