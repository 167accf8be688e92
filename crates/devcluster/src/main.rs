//! One command to see the endpoint controllers work: an embedded API server, a small shop as workload, a kubelet that is
//! only played, and the real controllers.
//!
//! `devcluster` alone gives a tour; `devcluster serve` runs the API server for whoever wants to connect;
//! `devcluster bench` measures the controllers.

mod apply;
mod args;
mod bench;
mod cluster;
mod host;
mod kubelet;
mod manifest;
mod serve;
mod stop;
mod tour;
mod view;

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use tracing::level_filters::LevelFilter;

use crate::{
    args::{Cli, Command},
    stop::Signals,
};

/// Counts nothing unless a profiler runs.
#[cfg(feature = "dhat")]
#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version were asked for: they are no mistakes, and go to standard output.
        Err(asked) if !asked.use_stderr() => asked.exit(),
        Err(mistake) => {
            let text = mistake.to_string();
            let message = text.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
            refuse(&format!("{} (see --help)", message.strip_prefix("error: ").unwrap_or(&message)));
            return ExitCode::from(2);
        }
    };
    log_to_stderr(&cli);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            refuse(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// One line on standard error, whatever the message is made of. When that is gone too, the status has to do.
fn refuse(message: &str) {
    let text = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let _ = writeln!(io::stderr(), "devcluster: {text}");
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let Cli { command, tour, verbose: _ } = cli;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let signals = Signals::catch()?;
        match command {
            Some(Command::Serve(args)) => serve::run(args, signals).await,
            Some(Command::Bench(args)) => bench::run(args, signals).await,
            Some(Command::BenchServer) => bench::server::run().await,
            Some(Command::BenchController { flags }) => bench::controller(flags, signals).await,
            None => tour::run(tour, signals).await,
        }
    })
}

/// Logs go to standard error; standard output is for what was asked for.
fn log_to_stderr(cli: &Cli) {
    let level = match (cli.verbose, &cli.command) {
        // A write that comes too late and is tried again is a warning of the controllers, and everyday business. Between the
        // lines of a tour it would look like a failure; what matters there ends the tour.
        (0, None) => LevelFilter::ERROR,
        (0, Some(_)) => LevelFilter::WARN,
        (1, _) => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(colour).with_max_level(level).init();
}
