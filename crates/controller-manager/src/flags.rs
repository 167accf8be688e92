//! The command line, with the flags of kube-controller-manager.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgAction, Parser};
use kube_endpoint_model::parse_go_bool;
use kube_lease_election::TimingError;

use crate::controllers::{Controllers, UnknownController};
use crate::feature_gates::{self, FeatureGateError};
use crate::go_duration;
use crate::leader_election::LeaderElectionFlags;
use crate::settings::{
    BURST, CONCURRENT_SYNCS, MAX_ENDPOINTS_PER_SLICE, MAX_ENDPOINTS_PER_SUBSET, QPS, Settings, at_least_one,
};

/// Runs the endpoint controllers of Kubernetes: endpoints, endpointslice and endpointslice-mirroring, in place of those of
/// kube-controller-manager.
///
/// Switch those off first (`--controllers=*,-endpoints-controller,-endpointslice-controller,
/// -endpointslice-mirroring-controller`): two writers of the same objects would fight.
#[derive(Clone, Debug, Parser)]
#[command(name = "controller-manager", version, args_override_self = true)]
pub struct Flags {
    /// Kubeconfig that says where the API server is and how to authenticate; without it, the service account of the Pod
    /// this runs in.
    #[arg(long, value_name = "FILE", help_heading = "Generic")]
    pub kubeconfig: Option<PathBuf>,

    /// Address of the API server; wins over the one in the kubeconfig.
    #[arg(long, value_name = "URL", help_heading = "Generic")]
    pub master: Option<String>,

    /// Controllers to run. '*' stands for all; 'foo' runs the controller named foo, '-foo' does not.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "*",
        allow_hyphen_values = true,
        help_heading = "Generic"
    )]
    controllers: Vec<String>,

    /// Rules to switch on or off.
    #[arg(
        long,
        value_name = "NAME=BOOL",
        value_delimiter = ',',
        help = "Rules to switch on or off. All are alpha and off by default: older rules of the endpoints controller. \
                LegacyTolerateUnreadyEndpoints: an annotation overrides publishNotReadyAddresses. \
                LegacySingleStackEndpoints: a Pod's primary address, whatever the families of its Service. \
                LegacyRestartPolicyMembership: Pods that are not ready leave by their restart policy.",
        help_heading = "Generic"
    )]
    feature_gates: Vec<String>,

    /// Requests a second to the API server, for each controller.
    #[arg(long, value_name = "NUMBER", default_value_t = QPS, allow_negative_numbers = true, help_heading = "Generic")]
    kube_api_qps: f32,

    /// Requests to the API server that each controller may make at once.
    #[arg(long, value_name = "NUMBER", default_value_t = BURST, help_heading = "Generic")]
    kube_api_burst: u32,

    #[command(flatten)]
    leader_election: LeaderElectionFlags,

    /// Port to serve health and metrics on. Not available yet: only 0, for none.
    #[arg(long, value_name = "PORT", default_value_t = 0, help_heading = "Secure serving")]
    secure_port: u16,

    /// Services the endpoints controller syncs at once.
    #[arg(
        long, value_name = "NUMBER", default_value_t = u16::from(CONCURRENT_SYNCS), value_parser = at_least_one_of(u16::MAX),
        help_heading = "Endpoints controller"
    )]
    concurrent_endpoint_syncs: u16,

    /// How long the endpoints controller gathers changes of Pods before it acts, such as 500ms.
    #[arg(
        long, value_name = "DURATION", default_value = "0s", value_parser = go_duration::parse, allow_hyphen_values = true,
        help_heading = "Endpoints controller"
    )]
    endpoint_updates_batch_period: Duration,

    /// Services the endpointslice controller syncs at once, 1 to 50.
    #[arg(
        long, value_name = "NUMBER", default_value_t = u16::from(CONCURRENT_SYNCS), value_parser = at_least_one_of(50),
        help_heading = "Endpointslice controller"
    )]
    concurrent_service_endpoint_syncs: u16,

    /// How long the endpointslice controller gathers changes of Pods before it acts, such as 500ms.
    #[arg(
        long, value_name = "DURATION", default_value = "0s", value_parser = go_duration::parse, allow_hyphen_values = true,
        help_heading = "Endpointslice controller"
    )]
    endpointslice_updates_batch_period: Duration,

    /// The most endpoints an EndpointSlice is filled with, 1 to 1000.
    #[arg(
        long, value_name = "NUMBER", default_value_t = MAX_ENDPOINTS_PER_SLICE, value_parser = at_least_one_of(1_000),
        help_heading = "Endpointslice controller"
    )]
    max_endpoints_per_slice: u16,

    /// Services the mirroring controller syncs at once, 1 to 50.
    #[arg(
        long, value_name = "NUMBER", default_value_t = u16::from(CONCURRENT_SYNCS), value_parser = at_least_one_of(50),
        help_heading = "Endpointslice mirroring controller"
    )]
    mirroring_concurrent_service_endpoint_syncs: u16,

    /// How long the mirroring controller gathers changes of EndpointSlices before it acts, such as 500ms.
    #[arg(
        long, value_name = "DURATION", default_value = "0s", value_parser = go_duration::parse, allow_hyphen_values = true,
        help_heading = "Endpointslice mirroring controller"
    )]
    mirroring_endpointslice_updates_batch_period: Duration,

    /// The most addresses of a subset that are mirrored, 1 to 1000.
    #[arg(
        long, value_name = "NUMBER", default_value_t = MAX_ENDPOINTS_PER_SUBSET, value_parser = at_least_one_of(1_000),
        help_heading = "Endpointslice mirroring controller"
    )]
    mirroring_max_endpoints_per_subset: u16,

    /// Verbosity of the log: 0 for what an operator should know, 4 for each step, 6 for each request.
    #[arg(short, long = "v", value_name = "NUMBER", default_value_t = 0, action = ArgAction::Set, help_heading = "Logs")]
    pub v: u8,
}

/// Why a command line cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    /// It does not parse. The message is one line.
    #[error("{0}")]
    Syntax(String),
    /// It asks for a controller that there is none of.
    #[error("invalid value for --controllers: {0}")]
    Controllers(#[from] UnknownController),
    /// It asks for a feature that there is none of.
    #[error("invalid value for --feature-gates: {0}")]
    FeatureGates(#[from] FeatureGateError),
    /// Its durations make no election.
    #[error("invalid value for --leader-elect-*: {0}")]
    LeaderElection(#[from] TimingError),
    /// It asks for serving.
    #[error("--secure-port={0} is not available yet: health and metrics are not served, use --secure-port=0")]
    SecurePort(u16),
    /// It asks for help or the version: the text to print on standard output, which is no failure.
    #[error("{0}")]
    Information(String),
}

fn at_least_one_of(max: u16) -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=i64::from(max))
}

/// Booleans as Go's flag package reads them.
pub(crate) fn parse_bool(text: &str) -> Result<bool, String> {
    parse_go_bool(text).ok_or_else(|| "expected true or false".to_owned())
}

/// `--kube_api_qps` is `--kube-api-qps`: Kubernetes takes either.
fn normalise(argument: OsString) -> OsString {
    match argument.to_str().and_then(|text| text.strip_prefix("--")) {
        Some(flag) => {
            let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
            let name = name.replace('_', "-");
            match value {
                Some(value) => format!("--{name}={value}").into(),
                None => format!("--{name}").into(),
            }
        }
        None => argument,
    }
}

impl Flags {
    /// Reads a command line, the name of the program first.
    pub fn parse_from<I: IntoIterator<Item = OsString>>(arguments: I) -> Result<Flags, UsageError> {
        Flags::try_parse_from(arguments.into_iter().map(normalise)).map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => UsageError::Information(error.to_string()),
            _ => {
                let text = error.to_string();
                let message: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
                let message = message.join(" ");
                UsageError::Syntax(message.strip_prefix("error: ").unwrap_or(&message).to_owned())
            }
        })
    }

    /// What the flags ask for.
    pub fn settings(&self) -> Result<Settings, UsageError> {
        // Taken apart whole, so that a flag that nobody reads does not compile.
        let Flags {
            kubeconfig: _,
            master: _,
            controllers,
            feature_gates,
            kube_api_qps,
            kube_api_burst,
            leader_election,
            secure_port,
            concurrent_endpoint_syncs,
            endpoint_updates_batch_period,
            concurrent_service_endpoint_syncs,
            endpointslice_updates_batch_period,
            max_endpoints_per_slice,
            mirroring_concurrent_service_endpoint_syncs,
            mirroring_endpointslice_updates_batch_period,
            mirroring_max_endpoints_per_subset,
            v: _,
        } = self;
        if *secure_port != 0 {
            return Err(UsageError::SecurePort(*secure_port));
        }
        Ok(Settings {
            controllers: Controllers::parse(controllers)?,
            leader_election: leader_election.settings()?,
            endpoint: kube_endpoint::Config {
                concurrent_syncs: usize::from(*concurrent_endpoint_syncs),
                batch_period: *endpoint_updates_batch_period,
                legacy: feature_gates::parse(feature_gates)?,
            },
            endpointslice: kube_endpointslice::controller::Config {
                concurrent_syncs: usize::from(*concurrent_service_endpoint_syncs),
                max_endpoints_per_slice: at_least_one(*max_endpoints_per_slice),
                batch_period: *endpointslice_updates_batch_period,
            },
            mirroring: kube_endpointslice_mirroring::Config {
                concurrent_syncs: usize::from(*mirroring_concurrent_service_endpoint_syncs),
                max_endpoints_per_subset: at_least_one(*mirroring_max_endpoints_per_subset),
                batch_period: *mirroring_endpointslice_updates_batch_period,
            },
            kube_api_qps: *kube_api_qps,
            kube_api_burst: *kube_api_burst,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leader_election::LeaderElection;
    use rstest::rstest;

    fn settings(arguments: &[&str]) -> Result<Settings, UsageError> {
        let arguments = std::iter::once(&"controller-manager").chain(arguments).map(OsString::from);
        Flags::parse_from(arguments)?.settings()
    }

    #[test]
    fn without_flags_everything_is_as_upstream() {
        let expected = Settings { leader_election: Some(LeaderElection::default()), ..Settings::default() };
        assert_eq!(format!("{:?}", settings(&[]).unwrap()), format!("{expected:?}"));
    }

    #[rstest]
    #[case(&["--max-endpoints-per-slice", "7"])]
    #[case(&["--max-endpoints-per-slice=7"])]
    #[case(&["--max_endpoints_per_slice=7"])]
    #[case(&["--max-endpoints-per-slice=9", "--max-endpoints-per-slice=7"])]
    fn either_spelling(#[case] arguments: &[&str]) {
        assert_eq!(settings(arguments).unwrap().endpointslice.max_endpoints_per_slice.get(), 7);
    }

    #[test]
    fn lists_and_durations() {
        let it = settings(&["--controllers=*,-endpoints-controller", "--endpoint-updates-batch-period=1m30s"]).unwrap();
        assert!(!it.controllers.endpoints && it.controllers.mirroring);
        assert_eq!(it.endpoint.batch_period, Duration::from_secs(90));
        let it = settings(&["--controllers", "-endpoints-controller,endpointslice"]).unwrap();
        assert!(it.controllers.endpointslice && !it.controllers.endpoints && !it.controllers.mirroring);
    }

    #[rstest]
    #[case(&["--nonsense"], "--nonsense")]
    #[case(&["--controllers=nonsense"], "\"nonsense\" is not in the list of known controllers")]
    #[case(&["--feature-gates=Nonsense=true"], "invalid value for --feature-gates: unrecognized feature gate: Nonsense")]
    #[case(&["--max-endpoints-per-slice=1001"], "1001 is not in 1..=1000")]
    #[case(&["--concurrent-service-endpoint-syncs=51"], "51 is not in 1..=50")]
    #[case(&["--concurrent-endpoint-syncs=0"], "0 is not in 1..=")] // EC-49
    #[case(&["--endpoint-updates-batch-period=soon"], "invalid duration \"soon\"")]
    #[case(&["--leader-elect-renew-deadline=15s"], "the lease duration must be greater than the renew deadline")]
    #[case(&["--leader-elect-resource-lock=endpoints"], "endpoints")]
    #[case(&["--leader-elect=maybe"], "expected true or false")]
    #[case(&["--secure-port=10257"], "--secure-port=10257 is not available yet")]
    #[case(&["stray"], "stray")]
    fn mistakes_are_one_line_that_names_them(#[case] arguments: &[&str], #[case] expected: &str) {
        let message = settings(arguments).unwrap_err().to_string();
        assert!(message.contains(expected) && !message.contains('\n'), "{message}");
    }

    #[test]
    fn feature_gates_add_up() {
        let it = settings(&[
            "--feature-gates=LegacySingleStackEndpoints=true,LegacyRestartPolicyMembership=true",
            "--feature-gates=LegacyRestartPolicyMembership=false,LegacyTolerateUnreadyEndpoints=true",
        ]);
        let legacy = it.unwrap().endpoint.legacy;
        assert!(
            legacy.single_stack_endpoints && legacy.tolerate_unready_endpoints && !legacy.restart_policy_membership
        );
    }

    #[rstest]
    #[case(&["--leader-elect=false"], None)]
    #[case(&["--leader-elect"], Some(("kube-system/endpoint-controller-manager", 15)))]
    #[case(&["--leader-elect-resource-name=it", "--leader-elect-lease-duration=1m"], Some(("kube-system/it", 60)))]
    fn leader_election(#[case] arguments: &[&str], #[case] expected: Option<(&str, u64)>) {
        let found = settings(arguments).unwrap().leader_election;
        let found = found.map(|it| (it.lease.to_string(), it.timing.lease_duration().as_secs()));
        assert_eq!(found, expected.map(|(lease, seconds)| (lease.to_owned(), seconds)));
    }
}
