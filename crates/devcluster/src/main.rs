//! One command to see the endpoint controllers work: an embedded API server, a small shop as workload, a kubelet that is
//! only played, and the real controllers.
//!
//! `devcluster` alone gives a tour; `devcluster serve` runs the API server for whoever wants to connect.

mod apply;
mod args;
mod host;
mod manifest;
mod serve;
mod stop;

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

fn main() -> ExitCode {
    let cli = Cli::parse();
    log_to_stderr(cli.verbose);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line, whatever the causes are made of. When standard error is gone too, the status has to do.
            let text = format!("{error:#}").lines().map(str::trim).collect::<Vec<_>>().join(" ");
            let _ = writeln!(io::stderr(), "devcluster: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let Cli { command, tour, verbose: _ } = cli;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let signals = Signals::catch()?;
        match command {
            Some(Command::Serve(args)) => serve::run(args, signals).await,
            None => anyhow::bail!("the tour is not built yet; try `devcluster serve` (exit: {})", tour.exit),
        }
    })
}

/// Logs go to standard error; standard output is for what was asked for.
fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(colour).with_max_level(level).init();
}
