//! Command-line arguments.

mod moment;
mod retire;
mod target;
mod timeout;

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{Args, ColorChoice, CommandFactory as _, Parser, Subcommand, ValueEnum, error::ErrorKind};
use kube_controller_client::{SecretString, Timeouts};
use kube_endpoint_model::parse_go_bool;
use kube_endpoints_explain::Settings;
use kube_endpoints_history::recorder::parse_size;

pub(crate) use self::moment::Moment;
pub(crate) use self::retire::{ApplyArgs, ControllerOff, PlanArgs, RetireArgs, RetireCommand, UndoArgs};
pub(crate) use self::target::{Kind, Target, Targets};

/// Explain which Pods are endpoints of a Service, which are not, and why.
#[derive(Debug, Parser)]
#[command(name = "kubectl-endpoints", bin_name = "kubectl endpoints", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Options of all subcommands.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// Subcommand.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Explain the endpoints of Services, the Services of Pods, or the state of EndpointSlices and Endpoints
    Explain(ExplainArgs),
    /// List what keeps Services from being served as intended
    ///
    /// Exits with status 1 if there is anything to list.
    Check,
    /// Show the writes that the endpoint controllers would send now, as a diff
    ///
    /// Exits with status 0 without differences, 1 with differences, and 2 after an error.
    Diff,
    /// Show what a controller-manager in shadow mode would write otherwise than the cluster's own controllers
    ///
    /// Exits with status 0 without open mismatches, 1 with open mismatches, and 2 after an error. With --wait, 1 means that
    /// the comparison has not been clean for that time before --timeout, or that it has panicked.
    Shadow(ShadowArgs),
    /// Record Services, Pods, Nodes, Endpoints and EndpointSlices as they change, into a file for --history
    ///
    /// Ends at Ctrl-C or SIGTERM, after --for, or when the file has reached --max-size. A lost connection to the API server does
    /// not end it, and leaves a gap in the file.
    Record(RecordArgs),
    /// Show how the endpoints of a Service have changed, and why: which rule, whose write, and which EndpointSlice showed it
    ///
    /// Reads --history or --url. Changes of at least five Pods, with pauses below 30 s, are one line. With --summary, lists outages, slow
    /// propagation, writes and flapping Pods of all Services. Exits with status 1 if the history has no such Service.
    History(HistoryArgs),
    /// Plan how the cluster gets rid of Endpoints, delete those that no program reads any more, and create them again
    Retire(RetireArgs),
}

/// Options of all subcommands.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Kubeconfig file [default: the files of $KUBECONFIG, or ~/.kube/config]
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: the current context]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Cluster of the kubeconfig [default: that of the context]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// User of the kubeconfig [default: that of the context]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// User to act as, which needs the right to impersonate
    #[arg(long = "as", global = true, value_name = "NAME")]
    pub(crate) impersonate: Option<String>,
    /// Group to act as, besides --as; may be repeated
    #[arg(long = "as-group", global = true, value_name = "NAME", requires = "impersonate")]
    pub(crate) impersonate_groups: Vec<String>,
    /// UID to act as, besides --as
    #[arg(long = "as-uid", global = true, value_name = "UID", requires = "impersonate")]
    pub(crate) impersonate_uid: Option<String>,
    /// Bearer token, instead of the credentials of the user except a client certificate; with an https address in --url, that of
    /// controller-manager, as are the next three options
    #[arg(long, global = true, value_name = "TOKEN")]
    pub(crate) token: Option<SecretString>,
    /// File with the certificate authorities of the API server [default: those of the cluster]
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// Do not verify the certificate of the API server, so that anyone on the way can read and change all that is sent
    #[arg(
        long, global = true, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", hide_default_value = true, action = clap::ArgAction::Set
    )]
    pub(crate) insecure_skip_tls_verify: bool,
    /// Name in the certificate of the API server [default: that of the cluster, or the host of the address]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,
    /// Address of the API server [default: that of the cluster]
    #[arg(short, long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Namespace [default: that of the context]
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// All namespaces; not for explain
    #[arg(short = 'A', long, global = true)]
    pub(crate) all_namespaces: bool,
    /// Label selector: of the Services, or of the objects to explain
    #[arg(short = 'l', long, global = true, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
    /// Output format
    #[arg(short, long, global = true, value_name = "FORMAT")]
    pub(crate) output: Option<Format>,
    /// When to color the output; `auto` is for terminals, unless `NO_COLOR` is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Value of this flag of kube-controller-manager, from 1 to 1000 [default: 100]
    #[arg(long, global = true, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) max_endpoints_per_slice: Option<u16>,
    /// Do not miss Endpoints objects that do not exist: the cluster has retired them, and their controller is off
    #[arg(long, global = true)]
    pub(crate) endpoints_retired: bool,
    /// File that `record` has written, or folder with such files named *.history, for example that of --history-dir of
    /// controller-manager. Read by explain, check and diff in place of the cluster, by history, and by retire plan for the
    /// number of writes
    #[arg(long, global = true, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    pub(crate) history: Option<PathBuf>,
    /// URL of controller-manager, which gets no credentials but --token, or path on the API server, such as
    /// /api/v1/namespaces/kube-system/pods/https:NAME:10257/proxy. Its page /history is read in place of --history, and by shadow
    /// its page /shadow. The API server forwards no credentials to a Pod: for a path, --authorization-always-allow-paths of
    /// controller-manager must contain the page
    #[arg(long, global = true, value_name = "URL", conflicts_with = "history")]
    pub(crate) url: Option<String>,
    /// Moment of --history or --url: a time such as 2026-11-27T14:02:00Z, a time of today in UTC such as 14:02, or a duration ago such as
    /// 10m [default: the last one]
    #[arg(long, global = true, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) at: Option<Moment>,
    /// Timeout of one request, such as 10s or 1m30s; a plain number is in seconds, and 0 means none [default: 90s; for a page
    /// of an http or https URL, 2s of shadow and 60s of the history]
    #[arg(long, global = true, value_name = "DURATION", value_parser = timeout::parse)]
    pub(crate) request_timeout: Option<Duration>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// KIND/NAME..., or KIND NAME..., or KIND for all objects that --selector selects. Kinds are service (svc), pod
    /// (po), endpointslice (eps) and endpoints (ep)
    #[arg(required = true, value_name = "KIND/NAME")]
    pub(crate) objects: Vec<String>,
    /// After the first report, print it again whenever it changes
    #[arg(short, long)]
    pub(crate) watch: bool,
}

/// Arguments of `shadow`.
#[derive(Debug, Args)]
pub(crate) struct ShadowArgs {
    /// Wait until there has been no mismatch for this time, such as 1h, and exit with status 0 then; progress is printed on
    /// standard error
    #[arg(long, value_name = "DURATION", value_parser = timeout::parse)]
    pub(crate) wait: Option<Duration>,
    /// Time after which --wait exits with status 1, such as 2h; 0 checks once
    #[arg(long, value_name = "DURATION", value_parser = timeout::parse, requires = "wait", default_value = "24h")]
    pub(crate) timeout: Duration,
}

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// File to write, which must not exist; best with the extension `history`
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) to: PathBuf,
    /// Time after which the recording ends, such as 30m [default: none]
    #[arg(long = "for", value_name = "DURATION", value_parser = timeout::parse)]
    pub(crate) duration: Option<Duration>,
    /// Audit logs of kube-apiserver to read in place of the cluster, also compressed by gzip and as exported by Google Cloud,
    /// Amazon or Azure: the objects of all namespaces, or of that of --namespace
    #[arg(
        long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["duration", "max_size"],
        value_hint = clap::ValueHint::FilePath
    )]
    pub(crate) from_audit_log: Vec<PathBuf>,
    /// Length of the file at which the recording ends, in bytes or with the suffix Ki, Mi or Gi
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "512Mi")]
    pub(crate) max_size: u64,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Name of the Service
    #[arg(value_name = "SERVICE", required_unless_present = "summary", conflicts_with = "summary")]
    pub(crate) service: Option<String>,
    /// All Services of the namespace, or with --all-namespaces of all; as a page with a timeline per Service with -o html
    #[arg(long, conflicts_with_all = ["pod", "all"])]
    pub(crate) summary: bool,
    /// Length of each list of --summary
    #[arg(long, value_name = "NUMBER", conflicts_with = "service", default_value = "10",
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) top: u16,
    /// Beginning, in the forms of --at [default: that of the history]
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) since: Option<Moment>,
    /// End, in the forms of --at [default: that of the history]
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) until: Option<Moment>,
    /// Only the changes of this Pod
    #[arg(long, value_name = "NAME")]
    pub(crate) pod: Option<String>,
    /// Each change on a line of its own, also those of the Service and its Pods that had no effect
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Text with more columns.
    Wide,
    /// Names of the objects only.
    Name,
    /// Page of HTML; only of history --summary.
    Html,
}

impl Cli {
    /// Parses and checks the arguments; the first is the name of the program. An error is printed with the usage.
    pub(crate) fn parse_checked(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let cli = Cli::try_parse_from(words)?;
        let invalid = |message: String| Cli::command().error(ErrorKind::ValueValidation, message);
        if let Command::Explain(explain) = &cli.command {
            explain.targets(&cli.global).map_err(invalid)?;
        }
        if let Command::Retire(retire) = &cli.command {
            retire.command.check(&cli.global).map_err(invalid)?;
        }
        let GlobalArgs { history, url, at, namespace, all_namespaces, selector, output, .. } = &cli.global;
        match &cli.command {
            Command::Shadow(_) if namespace.is_some() || *all_namespaces || selector.is_some() => {
                return Err(invalid("shadow compares the whole cluster: -n, -A and -l are not for it".to_owned()));
            }
            Command::Shadow(_) if *output == Some(Format::Name) => {
                return Err(invalid("shadow prints text, JSON or YAML".to_owned()));
            }
            Command::Record(_) | Command::History(_) if selector.is_some() => {
                return Err(invalid("-l is for explain, check and diff".to_owned()));
            }
            Command::Shadow(_) | Command::Record(_) if history.is_some() => {
                return Err(invalid("--history is for explain, check, diff and history".to_owned()));
            }
            Command::Shadow(_) if url.is_none() => {
                return Err(invalid("shadow reads a page of controller-manager: --url names it".to_owned()));
            }
            Command::Record(_) if url.is_some() => {
                return Err(invalid("--url is not for record".to_owned()));
            }
            Command::Explain(_) | Command::Check | Command::Diff if url.is_some() && at.is_none() => {
                return Err(invalid("--url needs --at: without it, the cluster answers".to_owned()));
            }
            _ => {}
        }
        if at.is_some() && history.is_none() && url.is_none() {
            return Err(invalid("--at is a moment of --history or --url".to_owned()));
        }
        let summary = matches!(&cli.command, Command::History(history) if history.summary);
        if *output == Some(Format::Html) && !summary {
            return Err(invalid("-o html is for history --summary".to_owned()));
        }
        if let Command::History(_) = &cli.command {
            if history.is_none() && url.is_none() {
                return Err(invalid("history reads a file or a page: --history or --url names it".to_owned()));
            }
            if at.is_some() {
                return Err(invalid("--since and --until are the times of history".to_owned()));
            }
            if *all_namespaces && !summary {
                return Err(invalid("history is about one Service: --all-namespaces is for --summary".to_owned()));
            }
        }
        Ok(cli)
    }
}

/// Parses a boolean with the spellings of kubectl.
fn go_bool(text: &str) -> Result<bool, String> {
    parse_go_bool(text).ok_or_else(|| "expected true or false".to_owned())
}

impl ExplainArgs {
    /// Returns the objects to explain, or the message of a usage error.
    pub(crate) fn targets(&self, global: &GlobalArgs) -> Result<Targets, String> {
        if global.all_namespaces {
            return Err("explain reads one namespace: --all-namespaces is for check and diff".to_owned());
        }
        if self.watch && (global.history.is_some() || global.url.is_some()) {
            return Err("--watch is not for --history and --url: a recorded moment does not change".to_owned());
        }
        Targets::parse(&self.objects, global.selector.as_deref())
    }
}

impl GlobalArgs {
    /// Returns the timeouts of requests that have `defaults` without `--request-timeout`.
    pub(crate) fn timeouts(&self, defaults: Timeouts) -> Timeouts {
        let request = match self.request_timeout {
            // As in kubectl.
            Some(Duration::ZERO) => Duration::MAX,
            given => given.unwrap_or(defaults.request),
        };
        Timeouts { request, connect: defaults.connect.min(request), ..defaults }
    }

    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.endpoints_retired = self.endpoints_retired;
        settings.now = Some(kube_ambient::now());
        if let Some(limit) = self.max_endpoints_per_slice.and_then(|limit| NonZeroUsize::new(limit.into())) {
            settings.max_endpoints_per_slice = limit;
        }
        settings
    }
}

#[cfg(test)]
mod tests;
