//! Arguments of `retire`.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;

use super::{Format, GlobalArgs, timeout};

/// Arguments of `retire`.
#[derive(Debug, Args)]
pub(crate) struct RetireArgs {
    /// Subcommand.
    #[command(subcommand)]
    pub(crate) command: RetireCommand,
}

/// Subcommands of `retire`.
#[derive(Debug, Subcommand)]
pub(crate) enum RetireCommand {
    /// Find out who reads and writes Endpoints, and which of them can go
    ///
    /// Only reads. With -o json, the output is the plan file. Nothing is called safe without an audit log that records reads of
    /// Endpoints for --for. With --history, the number of writes is that of the history. Exits with status 0 if all managed Endpoints
    /// can go, 1 if not or if it is unknown, and 2 after an error.
    Plan(PlanArgs),
    /// Delete the Endpoints that a plan calls safe, after writing them to a file
    ///
    /// Deletes only objects that the endpoints controller manages and that are as it would write them, the first one alone. Stops at a
    /// write of managed Endpoints by another client, with --watch-audit at a read, at an error, at Ctrl-C and SIGTERM; the same
    /// command goes on. Exits with status 0 if all were deleted, 1 if the plan does not fit the cluster or some are left, and 2 after
    /// an error.
    Apply(ApplyArgs),
    /// Create the Endpoints again that `apply` has deleted
    ///
    /// Objects that exist stay as they are. Exits with status 0, with 1 if an object cannot be created, and with 2 after an error.
    Undo(UndoArgs),
}

/// Arguments of `retire plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Audit logs of kube-apiserver, of all API servers, also compressed by gzip and as exported by Google Cloud, Amazon or Azure
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = clap::ValueHint::FilePath)]
    pub(crate) audit_log: Vec<PathBuf>,
    /// The files are one log of all API servers, as a log pipeline exports it, and not one file or more of each
    #[arg(long, requires = "audit_log")]
    pub(crate) merged_log: bool,
    /// Time that the audit log must cover, such as 7d or 36h
    #[arg(long = "for", value_name = "DURATION", value_parser = days, default_value = "7d")]
    pub(crate) duration: SignedDuration,
}

/// Arguments of `retire apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// File with the plan
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// File for the objects, written before the first of them is deleted. One that exists must be that of an earlier run
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) backup: PathBuf,
    /// Program whose endpoints controller is switched off [default: asked on a terminal]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) controller_off: Option<ControllerOff>,
    /// Age above which a plan is refused
    #[arg(long, value_name = "DURATION", value_parser = timeout::parse, default_value = "24h")]
    pub(crate) max_age: Duration,
    /// Delete objects whose verdict is unknown, too
    #[arg(long)]
    pub(crate) accept_unknown: bool,
    /// Go on if the namespace kube-system, which identifies the cluster, may not be read
    #[arg(long)]
    pub(crate) accept_unknown_cluster: bool,
    /// Time without a write of managed Endpoints, before the first delete and again after it
    #[arg(long, value_name = "DURATION", value_parser = timeout::parse, default_value = "60s")]
    pub(crate) quiet: Duration,
    /// Number of objects between two pauses
    #[arg(long, value_name = "NUMBER", default_value = "100")]
    pub(crate) batch_size: NonZeroUsize,
    /// Time between two batches
    #[arg(long, value_name = "DURATION", value_parser = timeout::parse, default_value = "10s")]
    pub(crate) pause: Duration,
    /// Audit log of kube-apiserver, which is followed: the first read of a deleted object, or of one to delete, stops the run
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) watch_audit: Option<PathBuf>,
}

/// Arguments of `retire undo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// File that --backup of `apply` has written
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) from: PathBuf,
    /// Go on if the namespace kube-system, which identifies the cluster, may not be read
    #[arg(long)]
    pub(crate) accept_unknown_cluster: bool,
}

/// Program with an endpoints controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ControllerOff {
    /// The controller of Kubernetes, off by --controllers=*,-endpoints-controller
    KubeControllerManager,
    /// That of this project, off by the same flag of controller-manager
    KubeEndpoints,
}

/// Parses a duration such as `7d`, `36h` or `1d 12h`.
fn days(text: &str) -> Result<SignedDuration, String> {
    let (days, rest) = match text.split_once('d') {
        Some((days, rest)) => (days.parse::<u16>().map_err(|error| error.to_string())?, rest.trim_start()),
        None => (0, text),
    };
    let rest = if rest.is_empty() && text.contains('d') {
        SignedDuration::ZERO
    } else {
        rest.parse().map_err(|error| format!("{error}"))?
    };
    let duration = SignedDuration::from_hours(24 * i64::from(days)).checked_add(rest);
    duration.filter(SignedDuration::is_positive).ok_or_else(|| "the duration is not positive, or too long".to_owned())
}

impl RetireCommand {
    /// Returns the message of a usage error, for global options that do not apply.
    pub(super) fn check(&self, global: &GlobalArgs) -> Result<(), String> {
        let GlobalArgs { namespace, all_namespaces, selector, history, url, at, output, .. } = global;
        let (command, scope) = match self {
            RetireCommand::Plan(_) => {
                if selector.is_some() {
                    return Err("-l is not for retire plan, which is about a namespace or all".to_owned());
                }
                if url.is_some() || at.is_some() {
                    return Err("--url and --at are not for retire plan".to_owned());
                }
                if !matches!(output, None | Some(Format::Json | Format::Yaml | Format::Wide)) {
                    return Err("retire plan prints text, JSON or YAML".to_owned());
                }
                return Ok(());
            }
            RetireCommand::Apply(_) => ("apply", "the plan"),
            RetireCommand::Undo(_) => ("undo", "the file"),
        };
        if namespace.is_some() || *all_namespaces || selector.is_some() {
            return Err(format!("{scope} names the objects of retire {command}: -n, -A and -l are not for it"));
        }
        if history.is_some() || url.is_some() {
            return Err(format!("--history and --url are not for retire {command}"));
        }
        if !matches!(output, None | Some(Format::Json | Format::Yaml)) {
            return Err(format!("retire {command} prints text, JSON or YAML"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("7d", Some(168))]
    #[case("36h", Some(36))]
    #[case("1d 12h", Some(36))]
    #[case("1d12h", Some(36))]
    #[case("1d 2562047788015215h", None)]
    #[case("0d", None)]
    #[case("-1h", None)]
    #[case("7", None)]
    #[case("d", None)]
    #[case("99999999d", None)]
    #[case("", None)]
    fn durations_parse(#[case] text: &str, #[case] hours: Option<i64>) {
        assert_eq!(days(text).ok(), hours.map(SignedDuration::from_hours));
    }
}
