//! The command line.

use std::{ffi::OsString, net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use kube_dev_apiserver::{Authorization, Transport};

use crate::bench::args::BenchArgs;

/// One command to see the endpoint controllers of Kubernetes work.
///
/// Without a subcommand: starts an API server on loopback, opens a small shop in it, plays the kubelet and runs the three
/// controllers; shows how Endpoints and EndpointSlices follow a rollout and the loss of a node; then stays up for kubectl until
/// Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "devcluster", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    /// What else there is.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// The tour.
    #[command(flatten)]
    pub(crate) tour: TourArgs,
    /// Log more to standard error: once for information, twice for details
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// What else there is.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the API server alone until Ctrl-C
    Serve(ServeArgs),
    /// Measure what the controllers cost
    Bench(BenchArgs),
    /// The server of the bench, which starts it
    #[command(hide = true)]
    BenchServer,
    /// The controllers with the flags of controller-manager, for tests of the bench that have no such program beside them
    #[command(hide = true)]
    BenchController {
        /// As for controller-manager
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        flags: Vec<OsString>,
    },
}

/// The tour.
#[derive(Debug, Args)]
pub(crate) struct TourArgs {
    /// The server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// End after the tour; the status is 0 if all that was expected came about
    #[arg(long)]
    pub(crate) exit: bool,
}

/// The server alone, as strict as is asked for.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Serve over TLS, with a certificate authority made for this run; the kubeconfig knows it
    #[arg(long)]
    pub(crate) tls: bool,
    /// Who may do what: everybody everything, or what applied Roles and bindings say. The kubeconfig is an administrator's
    #[arg(long, value_name = "MODE", value_enum, ignore_case = true, default_value = "AlwaysAllow")]
    pub(crate) authorization_mode: AuthorizationMode,
    /// Remove objects whose owners are gone
    #[arg(long)]
    pub(crate) garbage_collection: bool,
    /// Serve /debug/faults and /debug/requests: failures on demand, and the log of requests
    #[arg(long)]
    pub(crate) debug_endpoints: bool,
}

/// Who may do what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthorizationMode {
    /// Everybody everything.
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    /// What applied Roles and bindings say.
    #[value(name = "RBAC")]
    Rbac,
}

impl ServeArgs {
    /// What the server is told.
    pub(crate) fn config(&self) -> kube_dev_apiserver::Config {
        let ServeArgs { server, tls, authorization_mode, garbage_collection, debug_endpoints } = self;
        kube_dev_apiserver::Config {
            transport: if *tls { Transport::Tls } else { Transport::Plain },
            authorization: match authorization_mode {
                AuthorizationMode::AlwaysAllow => Authorization::AlwaysAllow,
                AuthorizationMode::Rbac => Authorization::Rbac,
            },
            garbage_collection: *garbage_collection,
            debug_endpoints: *debug_endpoints,
            ..server.config()
        }
    }
}

/// The server, wherever one is run.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Where to write the kubeconfig; by default a temporary file that is removed at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig_out: Option<PathBuf>,
    /// Objects of your own to apply: a YAML or JSON file, or a directory of such files; may be repeated
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) manifests: Vec<PathBuf>,
}

impl ServerArgs {
    /// What the server is told.
    pub(crate) fn config(&self) -> kube_dev_apiserver::Config {
        kube_dev_apiserver::Config { listen: self.listen, ..Default::default() }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use rstest::rstest;

    use super::*;

    #[test]
    fn is_consistent() {
        Cli::command().debug_assert();
    }

    #[rstest]
    #[case::tour("", "tour 127.0.0.1:0 manifests 0")]
    #[case::exit("--exit", "tour 127.0.0.1:0 manifests 0 exit")]
    #[case::tour_on_a_port("--listen=127.0.0.1:8080 --manifests a", "tour 127.0.0.1:8080 manifests 1")]
    #[case::serve("serve --manifests a --manifests=b", "serve 127.0.0.1:0 manifests 2")]
    #[case::serve_verbose("serve -vv", "serve 127.0.0.1:0 manifests 0 v2")]
    #[case::ipv6("serve --listen [::1]:80", "serve [::1]:80 manifests 0")]
    #[case::not_an_address("serve --listen localhost", "error")]
    #[case::mixed("--exit serve", "error")]
    #[case::strict("serve --tls --authorization-mode=RBAC --garbage-collection", "serve 127.0.0.1:0 manifests 0")]
    #[case::unknown_mode("serve --authorization-mode=Webhook", "error")]
    #[case::bench("bench churn start churn", "bench [Start, Churn]")]
    #[case::bench_of_nothing("bench", "error")]
    #[case::bench_all_and_one("bench --all start", "error")]
    #[case::unknown("bench-press", "error")]
    fn parses(#[case] line: &str, #[case] expect: &str) {
        let words = std::iter::once("devcluster").chain(line.split_whitespace());
        let got = Cli::try_parse_from(words).map_or_else(
            |_| "error".to_owned(),
            |cli| {
                let (name, server, exit) = match &cli.command {
                    Some(Command::Serve(serve)) => ("serve", &serve.server, false),
                    Some(Command::Bench(bench)) => return format!("bench {:?}", bench.scenarios()),
                    Some(Command::BenchServer | Command::BenchController { .. }) => return "bench".to_owned(),
                    None => ("tour", &cli.tour.server, cli.tour.exit),
                };
                let exit = if exit { " exit" } else { "" };
                let verbose = if cli.verbose > 0 { format!(" v{}", cli.verbose) } else { String::new() };
                format!("{name} {} manifests {}{exit}{verbose}", server.listen, server.manifests.len())
            },
        );
        assert_eq!(got, expect);
    }
}
