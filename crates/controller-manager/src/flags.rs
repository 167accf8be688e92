//! The command line: the flags of kube-controller-manager that apply to the endpoint controllers.

mod authentication;
mod authorization;
mod batching;
mod generic;
mod history;
mod leader_election;
mod logs;
mod misc;
mod mode;
mod secure_serving;
mod split;
mod upstream_only;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ffi::OsString;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser};
use kube_endpoint_model::parse_go_bool;

use split::{GivenFlag, split};
pub(crate) use value::Bounds;

use crate::controllers::ControllerFlags;
use crate::settings::Settings;

/// Runs the endpoint controllers of Kubernetes: endpoints, endpointslice and endpointslice-mirroring, in place of those
/// of kube-controller-manager.
///
/// Disable those first (`--controllers=*,-endpoints-controller,-endpointslice-controller,
/// -endpointslice-mirroring-controller`): two controllers that write the same objects overwrite each other.
#[derive(Clone, Debug, Parser)]
#[command(name = "controller-manager", args_override_self = true, disable_help_flag = true)]
struct Flags {
    #[command(flatten)]
    generic: generic::Generic,
    #[command(flatten)]
    leader_election: leader_election::LeaderElection,
    #[command(flatten)]
    mode: mode::ModeFlags,
    #[command(flatten)]
    history: history::HistoryFlags,
    #[command(flatten)]
    secure_serving: secure_serving::SecureServing,
    #[command(flatten)]
    authentication: authentication::Authentication,
    #[command(flatten)]
    authorization: authorization::Authorization,
    #[command(flatten)]
    controllers: ControllerFlags,
    #[command(flatten)]
    batching: batching::BatchingFlags,
    #[command(flatten)]
    logs: logs::Logs,
    #[command(flatten)]
    misc: misc::Misc,
    #[command(flatten)]
    global: misc::Global,
}

/// A parsed command line: settings for [`run`](crate::run), warnings, and the values of all flags.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// The settings that the flags give. [`Settings::flags`] is empty; the binary moves `flags` there.
    pub settings: Settings,
    /// Warnings for the log: flags and feature gates without effect, deprecated gates.
    pub warnings: Vec<String>,
    /// Every flag and its value, given or default, for `/flagz`.
    pub flags: BTreeMap<String, String>,
}

/// Error of [`CommandLine::parse`]: an invalid command line, or a request for help or the version.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    /// The command line is invalid: all errors, which `Display` joins on one line.
    #[error("{}", aggregate(.0))]
    Invalid(Vec<String>),
    /// `--help` or `--version` was given: the text to print on standard output before exiting with code 0.
    #[error("{0}")]
    HelpOrVersion(String),
}

/// Joins messages as upstream's `utilerrors.Aggregate` does.
fn aggregate(errors: &[String]) -> String {
    match errors {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

impl CommandLine {
    /// Parses a command line whose first argument is the name of the program.
    ///
    /// # Errors
    ///
    /// [`UsageError::Invalid`] with all errors of the command line, [`UsageError::HelpOrVersion`] for `--help` and
    /// `--version`.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, UsageError> {
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        let command = command();
        let given = split(utf8_arguments(arguments, &mut errors), |name| is_switch(&command, name), &mut errors);
        let (own, upstreams): (Vec<GivenFlag>, Vec<GivenFlag>) = given.into_iter().partition(|it| it.is_own);
        if own.iter().any(|it| it.name == "help") {
            return Err(UsageError::HelpOrVersion(command.clone().render_help().to_string()));
        }

        let (flags, values) = parse_flags(&command, &own, &mut errors);
        if let Some(text) = flags.global.version.as_deref().and_then(|value| version(value, &mut errors)) {
            return Err(UsageError::HelpOrVersion(text));
        }
        let upstream_only: BTreeSet<&str> = upstreams.iter().map(|it| it.name.as_str()).collect();
        if flags.misc.allow_upstream_flags {
            warnings
                .extend(upstream_only.iter().map(|name| format!("Flag --{name} has no effect here and is ignored")));
        } else if !upstream_only.is_empty() {
            let names: Vec<String> = upstream_only.iter().map(|name| format!("--{name}")).collect();
            let names = names.join(" ");
            errors.push(format!(
                "flags of kube-controller-manager without effect here: {names} (--allow-upstream-flags ignores them)"
            ));
        }

        let settings = settings(&flags, &mut errors, &mut warnings);
        if errors.is_empty() {
            Ok(CommandLine { settings, warnings, flags: values })
        } else {
            Err(UsageError::Invalid(errors))
        }
    }
}

/// Returns the flags. The value of a boolean flag is optional, as of pflag, and follows `=`.
fn command() -> Command {
    Flags::command().mut_args(|flag| match flag.get_value_names() {
        Some([name]) if name.starts_with("BOOL") => {
            flag.num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        _ => flag,
    })
}

fn settings(flags: &Flags, errors: &mut Vec<String>, warnings: &mut Vec<String>) -> Settings {
    let enabled = flags.generic.controllers(errors);
    if enabled.names().is_empty() && errors.is_empty() {
        warnings
            .push("--controllers enables no controller: add * for all others, as in --controllers=*,-name".to_owned());
    }
    let emulated_version = flags.generic.emulated_version(flags.misc.allow_upstream_flags, errors, warnings);
    let mut settings = Settings {
        controllers: enabled,
        emulated_version,
        feature_gates: flags.generic.feature_gates(emulated_version, errors, warnings),
        client: flags.generic.client(errors),
        min_resync_period: flags.generic.min_resync_period(),
        leader_election: flags.leader_election.settings(errors),
        serving: flags.secure_serving.settings(
            flags.authentication.settings(),
            flags.authorization.settings(errors),
            errors,
        ),
        logging: flags.logs.settings(errors),
        ..Settings::default()
    };
    flags.misc.apply(&mut settings.client);
    flags.mode.apply(&mut settings, errors);
    flags.history.apply(&mut settings, errors);
    flags.controllers.apply(&mut settings, errors);
    flags.batching.apply(&mut settings);
    settings
}

/// Returns the arguments without the name of the program. An argument that is not UTF-8 is appended to `errors`.
fn utf8_arguments(arguments: impl IntoIterator<Item = OsString>, errors: &mut Vec<String>) -> Vec<String> {
    let texts = arguments.into_iter().skip(1).map(OsString::into_string);
    texts
        .filter_map(|text| text.map_err(|it| errors.push(format!("argument {} is not UTF-8", it.display()))).ok())
        .collect()
}

/// Returns whether the value of a flag of this program is optional; `None` if the flag is not one of this program.
fn is_switch(command: &Command, name: &str) -> Option<bool> {
    let argument = command.get_arguments().find(|it| it.get_long() == Some(name))?;
    Some(!argument.get_action().takes_values() || argument.get_num_args().is_some_and(|it| it.min_values() == 0))
}

/// Parses flags with clap. Each invalid flag is appended to `errors` and left out, so that one run reports all
/// errors.
fn parse_flags(command: &Command, given: &[GivenFlag], errors: &mut Vec<String>) -> (Flags, BTreeMap<String, String>) {
    let argument = |it: &GivenFlag| match &it.value {
        Some(value) => format!("--{}={value}", it.name),
        None => format!("--{}", it.name),
    };
    let matches = |given: &[&GivenFlag]| {
        let arguments = std::iter::once(command.get_name().to_owned()).chain(given.iter().map(|it| argument(it)));
        command.clone().try_get_matches_from(arguments)
    };
    let mut valid: Vec<&GivenFlag> = given.iter().collect();
    let matches = matches(&valid).or_else(|_| {
        valid.retain(|it| match matches(&[it]) {
            Ok(_) => true,
            Err(error) => {
                let reason = error.source().map_or_else(|| "a value is needed".to_owned(), ToString::to_string);
                let value = it.value.as_deref().unwrap_or_default();
                errors.push(format!("invalid argument {value:?} for \"--{}\" flag: {reason}", it.name));
                false
            }
        });
        matches(&valid)
    });
    let flags = matches.and_then(|matches| Ok((Flags::from_arg_matches(&matches)?, values(command, &matches))));
    flags.unwrap_or_else(|error| {
        errors.push(error.to_string());
        (Flags::parse_from([command.get_name()]), BTreeMap::new())
    })
}

/// Returns every flag, except `--help` and `--version`, and its value.
fn values(command: &Command, matches: &ArgMatches) -> BTreeMap<String, String> {
    let flags = command.get_arguments().filter_map(|argument| Some((argument.get_id(), argument.get_long()?)));
    flags
        .filter(|(_, name)| !["help", "version"].contains(name))
        .map(|(id, name)| {
            let values = matches.get_raw(id.as_str()).unwrap_or_default();
            let values: Vec<_> = values.map(|it| it.to_string_lossy()).collect();
            (name.to_owned(), values.join(","))
        })
        .collect()
}

/// Returns the text for `--version`; `None` for `--version=false` and invalid values.
fn version(value: &str, errors: &mut Vec<String>) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    match (value, parse_go_bool(value)) {
        (_, Some(true)) => Some(format!("controller-manager v{version} (Kubernetes v1.36)\n")),
        (_, Some(false)) => None,
        ("raw", _) => {
            let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
            Some(format!("controller-manager v{version} kubernetes=v1.36 os={os} arch={arch}\n"))
        }
        _ => {
            errors.push(format!("invalid argument {value:?} for \"--version\" flag: expected true, false or raw"));
            None
        }
    }
}

#[cfg(test)]
pub(crate) use tests::reference;

#[cfg(test)]
mod tests;
