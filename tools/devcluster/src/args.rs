//! Command-line arguments.

use std::{
    ffi::OsString,
    net::{AddrParseError, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use kube_dev_apiserver::{Authorization, FieldTracking, Transport};

use crate::bench::args::BenchArgs;

/// Demo and benchmark of the Kubernetes endpoint controllers.
///
/// Without a subcommand: starts an API server on loopback, creates the objects of a small web shop, simulates the
/// kubelets and runs the three controllers; shows how Endpoints and EndpointSlices change during a rolling update and
/// after the loss of a node; explains three Services that are broken on purpose; then keeps running for kubectl until
/// Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "devcluster", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    /// Subcommand; the tour if absent.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Options of the tour.
    #[command(flatten)]
    pub(crate) tour: TourArgs,
    /// Increase the log level on standard error: once for info, twice for debug
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Printed at the end of `devcluster serve --help`.
const DIFFERENCES: &str = "\
Differences from a real cluster:
  No containers run: kubectl logs, exec and port-forward fail and say so.
  Workloads are Deployments, ReplicaSets and Jobs; nothing runs a Job.
  The endpoints of Services are written by controller-manager, a program of its
  own that is started with the kubeconfig. There are no admission webhooks, no
  default service accounts and no Service kubernetes. Nothing is kept at the end.
  More is in docs/src/devcluster.md in
  https://github.com/kube-endpoints/kube-endpoints";

/// Subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an API server with Deployments and simulated kubelets, until Ctrl-C
    #[command(after_long_help = DIFFERENCES)]
    Serve(ServeArgs),
    /// Measure CPU, memory, writes and latencies of the controllers
    Bench(BenchArgs),
    /// The controllers with the flags of controller-manager, for tests of the bench
    #[command(hide = true)]
    BenchController {
        /// Flags of controller-manager
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        flags: Vec<OsString>,
    },
}

/// Options of the tour.
#[derive(Debug, Args)]
pub(crate) struct TourArgs {
    /// Options of the API server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Exit after the tour, with status 0 if all expectations were met
    #[arg(long)]
    pub(crate) exit: bool,
    /// Wait for Enter before each further stage of the tour
    #[arg(long)]
    pub(crate) step: bool,
}

/// Options of `devcluster serve`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one per flag")]
pub(crate) struct ServeArgs {
    /// Options of the API server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Run the controllers of Deployments, and simulate scheduler and kubelets: Pods get a Node and addresses and become
    /// ready. Creates four Nodes if the manifests contain none
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    pub(crate) kubelet: bool,
    /// Serve over TLS, with a certificate authority generated at startup and included in the kubeconfig; implied by
    /// --authorization-mode=RBAC
    #[arg(long)]
    pub(crate) tls: bool,
    /// Authorization mode. The kubeconfig has the rights of a cluster administrator in both modes
    #[arg(long, value_name = "MODE", value_enum, ignore_case = true, default_value = "AlwaysAllow")]
    pub(crate) authorization_mode: AuthorizationMode,
    /// Delete objects whose owners no longer exist, such as the Pods of a deleted Deployment
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    pub(crate) garbage_collection: bool,
    /// Serve /debug/faults (fault injection), /debug/requests (request log), /debug/watches and /debug/restart, which end
    /// watches and connections
    #[arg(long)]
    pub(crate) debug_endpoints: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthorizationMode {
    /// Every request is allowed.
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    /// Requests are authorized by the roles and role bindings on the server.
    #[value(name = "RBAC")]
    Rbac,
}

impl ServeArgs {
    /// Returns the configuration of the API server.
    pub(crate) fn config(&self) -> kube_dev_apiserver::Config {
        let ServeArgs { server, kubelet: _, tls, authorization_mode, garbage_collection, debug_endpoints } = self;
        // kubectl and client-go send credentials over TLS only.
        let tls = *tls || *authorization_mode == AuthorizationMode::Rbac;
        kube_dev_apiserver::Config {
            transport: if tls { Transport::Tls } else { Transport::Plain },
            authorization: match authorization_mode {
                AuthorizationMode::AlwaysAllow => Authorization::AlwaysAllow,
                AuthorizationMode::Rbac => Authorization::Rbac,
            },
            garbage_collection: *garbage_collection,
            debug_endpoints: *debug_endpoints,
            field_tracking: FieldTracking::Always,
            ..server.config()
        }
    }
}

/// Options of the API server, common to the tour and `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Listen address: ADDRESS:PORT, or PORT for the loopback address; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// New file for the kubeconfig, or one that devcluster has written [default: a temporary file, removed at exit]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig_out: Option<PathBuf>,
    /// Objects to create: a YAML or JSON file, or a directory of such files; may be repeated
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) manifests: Vec<PathBuf>,
}

/// Parses `ADDRESS:PORT`, or `PORT` for the loopback address.
fn listen_address(text: &str) -> Result<SocketAddr, AddrParseError> {
    text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port))).or_else(|_| text.parse())
}

impl ServerArgs {
    /// Returns the configuration of the API server.
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
    fn cli_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[rstest]
    #[case::tour("", "tour 127.0.0.1:0 manifests 0")]
    #[case::exit("--exit", "tour 127.0.0.1:0 manifests 0 exit")]
    #[case::tour_on_a_port("--listen=127.0.0.1:8080 --manifests a", "tour 127.0.0.1:8080 manifests 1")]
    #[case::serve("serve --manifests a --manifests=b", "serve 127.0.0.1:0 manifests 2")]
    #[case::serve_verbose("serve -vv", "serve 127.0.0.1:0 manifests 0 v2")]
    #[case::ipv6("serve --listen [::1]:80", "serve [::1]:80 manifests 0")]
    #[case::port("serve --listen 8080", "serve 127.0.0.1:8080 manifests 0")]
    #[case::not_an_address("serve --listen localhost", "error")]
    #[case::not_a_port("serve --listen 70000", "error")]
    #[case::mixed("--exit serve", "error")]
    #[case::strict("serve --tls --authorization-mode=RBAC --garbage-collection", "serve 127.0.0.1:0 manifests 0")]
    #[case::unknown_mode("serve --authorization-mode=Webhook", "error")]
    #[case::bench("bench churn start churn", "bench [Start, Churn]")]
    #[case::bench_of_nothing("bench", "error")]
    #[case::bench_all("bench --all start", "bench [Start, Resume, Churn, Latency, Namespace, Big]")]
    #[case::unknown("bench-press", "error")]
    fn command_lines_parse(#[case] line: &str, #[case] expect: &str) {
        let words = std::iter::once("devcluster").chain(line.split_whitespace());
        let got = Cli::try_parse_from(words).map_or_else(
            |_| "error".to_owned(),
            |cli| {
                let (name, server, exit) = match &cli.command {
                    Some(Command::Serve(serve)) => ("serve", &serve.server, false),
                    Some(Command::Bench(bench)) => return format!("bench {:?}", bench.scenarios()),
                    Some(Command::BenchController { .. }) => return "bench".to_owned(),
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
