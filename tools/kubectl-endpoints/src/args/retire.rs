//! Arguments of `retire`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::{Format, GlobalArgs};

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
    let duration = SignedDuration::from_hours(24 * i64::from(days)) + rest;
    if duration.is_positive() { Ok(duration) } else { Err("the duration is not positive".to_owned()) }
}

impl RetireCommand {
    /// Returns the message of a usage error, for global options that do not apply.
    pub(super) fn check(&self, global: &GlobalArgs) -> Result<(), String> {
        let GlobalArgs { selector, url, at, output, .. } = global;
        match self {
            RetireCommand::Plan(_) => {
                if selector.is_some() {
                    return Err("-l is not for retire plan, which is about a namespace or all".to_owned());
                }
                if url.is_some() || at.is_some() {
                    return Err("--url and --at are not for retire plan".to_owned());
                }
            }
        }
        if !matches!(output, None | Some(Format::Json | Format::Yaml | Format::Wide)) {
            return Err("retire prints text, JSON or YAML".to_owned());
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
