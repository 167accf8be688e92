//! kubectl plugin that explains which Pods are endpoints of a Service, which are not, and why.
//!
//! ```text
//! args --> connection --> fetch -----> World (kube-endpoints-explain) --> reports --> output
//!                           ^  needs                                                    |
//!          explain/anchors -+                                                           v
//!          explain/watch: informers instead of fetch                     text, JSON, YAML, names
//! ```
//!
//! - `explain` reads what the named objects need ([`fetch`]); `check` and `diff` read a namespace or everything
//!   ([`cluster`]). All logic of the explanation is in `kube-endpoints-explain`.
//! - Kinds that the user may not list are unknown to the explanation, which says so; they are no error.
//! - [`record`] writes what informers deliver into a history file; [`past`] reads the objects of a moment from a [`source`] of
//!   histories, in place of the cluster. [`history`] shows the changes in one.
//! - [`retire`] plans how Endpoints go, deletes them, and creates them again; all decisions are in `kube-endpoints-retire`.
//! - [`completion`] answers kubectl's requests for shell completion.

mod args;
mod check;
mod cluster;
mod completion;
mod connection;
mod details;
mod diff;
mod explain;
mod fetch;
mod file_identity;
mod history;
mod output;
mod page;
mod past;
mod progress;
mod record;
mod retire;
mod selection;
mod shadow;
mod source;
mod stop;

use std::{env, ffi::OsString, io, process::ExitCode};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().collect();
    // Not a subcommand of `Cli`: the words after it can be incomplete options.
    if words.get(1).is_some_and(|word| word == completion::SUBCOMMAND) {
        return exit_code(block_on(completion::run(&words[2..])), 1);
    }
    let cli = match Cli::parse_checked(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing can be done if the help or the usage cannot be printed.
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    start_logging();
    let finds = matches!(cli.command, Command::Check | Command::Diff | Command::Shadow(_) | Command::Retire(_));
    let error_status = if finds { diff::ERROR_STATUS } else { 1 };
    exit_code(run(cli), error_status)
}

/// Prints warnings of the API server and of watches, but nothing that libraries log.
fn start_logging() {
    let own = ["kube_controller_client", "kube_informer"].map(|target| (target, LevelFilter::WARN));
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .with_filter(Targets::new().with_targets(own));
    tracing_subscriber::registry().with(layer).init();
}

/// Prints an error as kubectl does.
fn exit_code(result: anyhow::Result<ExitCode>, error_status: u8) -> ExitCode {
    result.unwrap_or_else(|error| {
        output::message("error: ", format_args!("{error:#}"));
        ExitCode::from(error_status)
    })
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { global, command } = cli;
    match command {
        Command::Explain(args) => block_on(explain::run(&global, &args)),
        Command::Check => block_on(check::run(&global)),
        Command::Diff => block_on(diff::run(&global)),
        Command::Shadow(args) => block_on(shadow::run(&global, &args)),
        Command::Record(args) => block_on(record::run(&global, &args)),
        Command::History(args) => block_on(history::run(&global, &args)),
        Command::Retire(args) => block_on(retire::run(&global, &args.command)),
    }
}

fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    // After an error, a blocking task may still read an audit log: dropping the runtime waits for its end.
    runtime.shutdown_background();
    result
}
