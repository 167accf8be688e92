//! Command line.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{Args, Parser};

/// Tests a controller of EndpointSlices or Endpoints with recordings of Kubernetes' controllers and with hostile
/// scenarios.
///
/// For each file of recordings and each hostile scenario, an embedded API server and the controller are started. Without
/// --controller, one server is started and the path of its kubeconfig is printed, for a controller that is started
/// elsewhere. Progress is printed to standard error, the report to standard output. The exit status is 0 if all scenarios
/// passed, 1 if one failed, and 2 if the tests could not be run.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Substrings of the keys `file/scenario` of the scenarios to run; all by default.
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Substring of the keys of scenarios not to run.
    #[arg(long, value_name = "FILTER")]
    pub(crate) exclude: Vec<String>,
    /// Built-in profile, or path of a YAML file, with the claims of the controller.
    #[arg(long, value_name = "NAME|FILE", default_value = "service-slices")]
    pub(crate) profile: String,
    /// Print the scenarios that would run, and those that do not apply with the reason.
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the built-in profiles.
    #[arg(long, conflicts_with = "list")]
    pub(crate) show_profiles: bool,
    #[command(flatten)]
    pub(crate) controller: Controller,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) timing: Timing,
}

/// Controller under test.
#[derive(Debug, Args)]
#[command(next_help_heading = "Controller")]
pub(crate) struct Controller {
    /// Command line that starts the controller. {kubeconfig}, {server} (the URL), {port} (a free one) and {dir} (an empty
    /// directory, where it is started) are replaced; KUBECONFIG is set.
    #[arg(long = "controller", value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Command line that starts it with a resync period of at most two seconds, for one scenario.
    #[arg(long = "controller-resync", value_name = "COMMAND", requires = "command")]
    pub(crate) resync_command: Option<String>,
    /// Command line that starts it with leader election and no other credentials than the kubeconfig, for one scenario.
    #[arg(long = "controller-elected", value_name = "COMMAND", requires = "command")]
    pub(crate) elected_command: Option<String>,
    /// YAML file with roles and bindings of the user --user. All other requests are denied, and fail the test. By default
    /// every request is allowed.
    #[arg(long, value_name = "FILE", conflicts_with = "kubeconfig")]
    pub(crate) rights: Option<PathBuf>,
    /// User of the kubeconfig.
    #[arg(long, value_name = "NAME", default_value = "controller-under-test")]
    pub(crate) user: String,
}

/// Cluster.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct Cluster {
    /// Use this cluster instead of embedded servers, for recordings only. Namespaces and Nodes are created, and deleted
    /// afterwards.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Maximum number of servers at a time, each with an instance of the controller.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) jobs: NonZeroUsize,
}

/// Time limits, in seconds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Time limits in seconds")]
pub(crate) struct Timing {
    /// Maximum time from the start of the controller until it writes.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) start_timeout: Duration,
    /// Maximum time until the controller has reacted to a change and stopped writing; 60 for recordings and 30 for
    /// hostile scenarios by default.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Time without writes after which the controller counts as settled, at least 3. It must be longer than the delay
    /// with which the controller acts on events, and than its polling interval.
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = settle_seconds)]
    pub(crate) settle: Duration,
    /// Maximum time from SIGTERM until the controller exits.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) stop_timeout: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn settle_seconds(text: &str) -> Result<Duration, String> {
    let settle = seconds(text)?;
    if settle < Duration::from_secs(3) { Err("must be at least 3".to_owned()) } else { Ok(settle) }
}
