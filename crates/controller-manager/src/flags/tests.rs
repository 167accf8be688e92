mod reference;
mod releases;

use std::time::Duration;

use kube_controller_serving::{CertificateFiles, ServerCertificate, ServingSettings, TlsVersion};
use proptest::prelude::*;
use rstest::rstest;

pub(crate) use self::reference::reference;
use super::upstream_only::UpstreamFlag;
use super::value::path;
use super::*;
use crate::emulation::EmulatedVersion;
use crate::settings::{HistorySettings, LeaderElection, Mode};

fn parse(arguments: &[&str]) -> Result<CommandLine, UsageError> {
    CommandLine::parse(std::iter::once(&"controller-manager").chain(arguments).map(OsString::from))
}

fn settings(arguments: &[&str]) -> Settings {
    parse(arguments).map(|it| it.settings).expect("a command line without mistakes")
}

fn errors(arguments: &[&str]) -> Vec<String> {
    match parse(arguments) {
        Err(UsageError::Invalid(errors)) => errors,
        Err(UsageError::HelpOrVersion(text)) => panic!("{text}"),
        Ok(_) => vec![],
    }
}

#[test]
fn command_line_without_flags_gives_the_defaults() {
    let line = parse(&[]).unwrap();
    // By default, the command line serves, elects a leader and records a history; the library does none of it.
    let serving = ServingSettings { port: 10_257, ..ServingSettings::default() };
    let (leader_election, history) = (Some(LeaderElection::default()), Some(HistorySettings::default()));
    let expected = Settings { leader_election, serving, history, ..Settings::default() };
    assert_eq!(format!("{:?}", line.settings), format!("{expected:?}"));
    assert_eq!(line.warnings, Vec::<String>::new());
}

#[rstest]
#[case(&["--max-endpoints-per-slice", "7"])]
#[case(&["--max-endpoints-per-slice=7"])]
#[case(&["--max_endpoints_per_slice=7"])]
#[case(&["--max-endpoints-per-slice=0x7"])]
#[case(&["--max-endpoints-per-slice=9", "--max-endpoints-per-slice=7"])]
fn flag_spellings_are_equivalent(#[case] arguments: &[&str]) {
    assert_eq!(settings(arguments).max_endpoints_per_slice.get(), 7);
}

#[test]
fn lists_and_durations_are_parsed() {
    let (endpoints, slices, mirroring) =
        ("endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller");
    let it = settings(&["--controllers=*,-endpoints-controller", "--endpoint-updates-batch-period=1m30s"]);
    assert_eq!(it.controllers.names(), [slices, mirroring]);
    assert_eq!(it.syncs.endpoints.batch_period, Duration::from_secs(90));
    let it = settings(&["--controllers", "-endpoints-controller,endpointslice"]);
    assert_eq!(it.controllers.names(), [slices]);
    // As upstream, the first occurrence replaces the default, later ones add to it.
    let it = settings(&["--controllers=endpoint", "--controllers=endpointslice"]);
    assert_eq!(it.controllers.names(), [endpoints, slices]);
    assert!(settings(&["--controllers="]).controllers.names().is_empty());
}

#[test]
fn batching_applies_to_all_controllers() {
    for (arguments, expected) in [
        (&[][..], kube_controller::Batching::None),
        (&["--updates-batching=none"], kube_controller::Batching::None),
        (&["--updates-batching=adaptive"], kube_controller::Batching::Adaptive),
    ] {
        let mut it = settings(arguments);
        assert!(it.syncs.all_mut().all(|syncs| syncs.batching == expected), "{:?}", it.syncs);
    }
}

#[test]
fn emulated_version_decides_about_locked_gates() {
    assert_eq!(settings(&[]).emulated_version, EmulatedVersion::V1_36);
    let strict = "--feature-gates=StrictIPCIDRValidation=false";
    let it = settings(&[strict, "--emulated-version=kube=1.37"]);
    assert_eq!(it.emulated_version, EmulatedVersion::V1_37);
    assert!(!it.feature_gates.enabled("StrictIPCIDRValidation"));
    let locked = "cannot set feature gate StrictIPCIDRValidation to false, feature is locked to true";
    // The order of the flags does not matter.
    assert_eq!(errors(&[strict, "--emulated-version=1.38"]), [locked]);
    assert_eq!(errors(&["--emulated-version", "1.38", strict]), [locked]);
}

#[test]
fn earlier_versions_are_emulated_as_1_36_only_for_upstreams_command_lines() {
    assert_eq!(errors(&["--emulated-version=1.35"]), ["emulation version 1.35 is not between [1.36, 1.38]"]);
    let line = parse(&["--emulated-version=1.35", "--allow-upstream-flags"]).unwrap();
    assert_eq!(line.settings.emulated_version, EmulatedVersion::V1_36);
    assert_eq!(line.warnings, ["--emulated-version=1.35 is not supported here, 1.36 is emulated"]);
    let errors = errors(&["--emulated-version=1.27", "--allow-upstream-flags"]);
    assert_eq!(errors, ["emulation version 1.27 is not between [1.36, 1.38]"]);
}

#[test]
#[cfg(feature = "endpoint")]
fn repeated_feature_gates_flags_are_merged() {
    let legacy = settings(&[
        "--feature-gates=LegacySingleStackEndpoints=true,LegacyRestartPolicyMembership=true",
        "--feature-gates=LegacyRestartPolicyMembership=false,LegacyTolerateUnreadyEndpoints=true",
    ])
    .feature_gates
    .legacy();
    assert!(legacy.single_stack_endpoints && legacy.tolerate_unready_endpoints && !legacy.restart_policy_membership);
}

#[test]
fn auto_limits_requests_in_flight_and_ignores_the_burst() {
    let it = settings(&["--kube-api-qps=auto", "--kube-api-burst=0"]);
    assert!(it.client.adaptive && !settings(&["--kube-api-qps=50"]).client.adaptive);
    assert_eq!(parse(&["--kube-api-qps=auto"]).unwrap().flags.get("kube-api-qps").map(String::as_str), Some("auto"));
}

#[test]
fn flags_of_every_group_reach_the_settings() {
    let it = settings(&[
        "--kubeconfig=/k",
        "--master=https://m",
        "--kube-api-qps=-1",
        "--kube-api-burst=0",
        "--min-resync-period=1h",
        "--feature-gates=EndpointSlice=false",
        "--use-service-account-credentials",
        "--leader-elect-lease-duration=30s",
        "--leader-elect-resource-name=n",
        "--leader-elect-resource-namespace=ns",
        "--bind-address=::1",
        "--secure-port=1",
        "--cert-dir=/d",
        "--tls-cert-file=/c",
        "--tls-private-key-file=/p",
        "--tls-min-version=VersionTLS13",
        "--client-ca-file=/ca",
        "--authentication-kubeconfig=/a",
        "--authentication-token-webhook-cache-ttl=1s",
        "--authorization-kubeconfig=/b",
        "--authorization-always-allow-paths=/x,/y*",
        "--authorization-webhook-cache-authorized-ttl=2s",
        "--authorization-webhook-cache-unauthorized-ttl=3s",
        "--logging-format=json",
        "-v=4",
    ]);
    assert_eq!(it.client.kubeconfig, path("/k"));
    assert_eq!(it.client.master.as_deref(), Some("https://m"));
    assert_eq!((it.client.qps.to_string().as_str(), it.client.burst), ("-1", 0));
    assert!(it.client.service_account_credentials);
    assert_eq!(it.min_resync_period, Duration::from_secs(3_600));
    assert!(!it.feature_gates.enabled("EndpointSlice"));
    let election = it.leader_election.expect("on by default");
    assert_eq!(election.timing.lease_duration(), Duration::from_secs(30));
    assert_eq!(election.lease.to_string(), "ns/n");
    assert_eq!((it.serving.bind_address.to_string().as_str(), it.serving.port), ("::1", 1));
    let files = CertificateFiles { certificate: "/c".into(), key: "/p".into() };
    assert_eq!(it.serving.certificate, ServerCertificate::Files(files), "instead of a pair in --cert-dir");
    assert_eq!(it.serving.min_tls_version, TlsVersion::Tls13);
    assert_eq!(it.serving.authentication.client_ca_file, path("/ca"));
    assert_eq!(it.serving.authentication.kubeconfig, path("/a"));
    assert_eq!(it.serving.authentication.token_ttl, Duration::from_secs(1));
    assert_eq!(it.serving.authorization.kubeconfig, path("/b"));
    assert_eq!(it.serving.authorization.always_allow_paths, ["/x", "/y*"]);
    assert_eq!(it.serving.authorization.authorized_ttl, Duration::from_secs(2));
    assert_eq!(it.serving.authorization.unauthorized_ttl, Duration::from_secs(3));
    assert_eq!(it.logging.verbosity, 4);
}

#[test]
fn generated_certificate_is_stored_under_upstreams_name() {
    let files = CertificateFiles::pair("/d".as_ref(), "kube-controller-manager");
    assert_eq!(settings(&["--cert-dir=/d"]).serving.certificate, ServerCertificate::Stored(files));
    assert_eq!(settings(&["--cert-dir="]).serving.certificate, ServerCertificate::Generated);
}

#[rstest]
#[case("--nonsense", "unknown flag: --nonsense")]
#[case("--controllers=nonsense", "\"nonsense\" is not in the list of known controllers")]
#[case("--feature-gates=Nonsense=true", "unrecognized feature gate: Nonsense")]
#[case("--max-endpoints-per-slice=1001", "max-endpoints-per-slice must not be more than 1000, but got 1001")]
#[case("--max-endpoints-per-slice=0", "max-endpoints-per-slice must not be less than 1, but got 0")]
#[case(
    "--concurrent-service-endpoint-syncs=51",
    "concurrent-service-endpoint-syncs must not be more than 50, but got 51"
)]
#[case(
    "--mirroring-concurrent-service-endpoint-syncs=-1",
    "mirroring-concurrent-service-endpoint-syncs must not be less than 1, but got -1"
)]
#[case(
    "--mirroring-max-endpoints-per-subset=1001",
    "mirroring-max-endpoints-per-subset must not be more than 1000, but got 1001"
)]
#[case("--concurrent-endpoint-syncs=0", "concurrent-endpoint-syncs must not be less than 1, but got 0")] // CM-1
#[case(
    "--endpoint-updates-batch-period=soon",
    "invalid argument \"soon\" for \"--endpoint-updates-batch-period\" flag: invalid duration \"soon\": expected a \
     number with a unit, such as 500ms or 1m30s"
)]
#[case("--kube-api-burst=x", "invalid argument \"x\" for \"--kube-api-burst\" flag: expected a whole number")]
#[case("--kube-api-burst=", "invalid argument \"\" for \"--kube-api-burst\" flag: expected a whole number")]
#[case("--kube-api-burst=0", "kube-api-burst must not be less than 1, but got 0")]
#[case("--kube-api-qps=many", "invalid argument \"many\" for \"--kube-api-qps\" flag: expected a number or auto")]
#[case("--kube-api-qps=NaN", "kube-api-qps must be a number, but got NaN")]
#[case(
    "--kube-api-content-type=text/plain",
    "kube-api-content-type must be one of application/json, application/vnd.kubernetes.protobuf, but got \"text/plain\""
)]
#[case(
    "--updates-batching=always",
    "invalid argument \"always\" for \"--updates-batching\" flag: expected adaptive or none"
)]
#[case("--leader-elect=maybe", "invalid argument \"maybe\" for \"--leader-elect\" flag: expected true or false")]
#[case("--leader-elect-renew-deadline=15s", "leader-elect: the lease duration must be greater than the renew deadline")]
#[case("--leader-elect-resource-lock=endpoints", "resourceLock value must be \"leases\"")]
#[case("--leader-elect-resource-name=", "leader-elect-resource-name must not be empty")]
#[case(
    "--secure-port=65536",
    "--secure-port 65536 must be between 0 and 65535, inclusive. 0 for turning off secure port"
)]
#[case("--bind-address=here", "invalid argument \"here\" for \"--bind-address\" flag: invalid IP address syntax")]
#[case("--tls-cert-file=/c", "tls-cert-file and tls-private-key-file must be given together")]
#[case(
    "--tls-min-version=VersionTLS11",
    "tls-min-version VersionTLS11 is not supported, use VersionTLS12 or VersionTLS13"
)]
#[case("--tls-min-version=1.2", "unknown tls version \"1.2\"")]
#[case("--authorization-always-allow-paths=/a*b", "only trailing * allowed in \"/a*b\"")]
#[case("--logging-format=xml", "format: Invalid value: \"xml\": Unsupported log format")]
#[case("-v=-1", "v must not be less than 0, but got -1")]
#[case("--version=old", "invalid argument \"old\" for \"--version\" flag: expected true, false or raw")]
#[case("stray", "\"controller-manager\" does not take any arguments, got [\"stray\"]")] // CM-20
#[case(
    "--cluster-cidr=10.0.0.0/8",
    "flags of kube-controller-manager without effect here: --cluster-cidr (--allow-upstream-flags ignores them)"
)]
fn invalid_flags_are_reported_with_upstreams_messages(#[case] argument: &str, #[case] expected: &str) {
    assert_eq!(errors(&[argument]), [expected]);
}

#[test]
fn all_errors_are_reported_together() {
    let found = parse(&["--nonsense", "--v=x", "--max-endpoints-per-slice=0", "--controllers=a,b"]).unwrap_err();
    assert_eq!(
        found.to_string(),
        "[unknown flag: --nonsense, invalid argument \"x\" for \"--v\" flag: invalid digit found in string, \
         \"a\" is not in the list of known controllers, \"b\" is not in the list of known controllers, \
         max-endpoints-per-slice must not be less than 1, but got 0]"
    );
}

/// The argument list with which kubeadm starts kube-controller-manager.
#[test]
fn kubeadm_arguments_need_allow_upstream_flags() {
    let mut arguments: Vec<&str> = include_str!("../../tests/fixtures/kcm-args.txt").lines().collect();
    let refused = errors(&arguments);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains("--cluster-signing-key-file --"), "{refused:?}");

    arguments.push("--allow-upstream-flags");
    let line = parse(&arguments).unwrap();
    assert_eq!(line.warnings.len(), 9, "{:?}", line.warnings);
    assert!(line.warnings.contains(&"Flag --root-ca-file has no effect here and is ignored".to_owned()));
    assert!(line.settings.leader_election.is_some() && line.settings.client.service_account_credentials);
    assert_eq!(line.settings.serving.bind_address.to_string(), "127.0.0.1");
}

#[rstest]
#[case("-endpoints-controller", 1)]
#[case("", 1)]
#[case("*,-endpoints-controller", 0)]
#[case("endpoints-controller", 0)]
fn a_list_that_enables_nothing_is_a_warning(#[case] list: &str, #[case] warnings: usize) {
    let line = parse(&[&format!("--controllers={list}")]).unwrap();
    assert_eq!(line.warnings.len(), warnings, "{:?}", line.warnings);
}

#[test]
fn one_warning_for_each_flag_without_effect() {
    let line = parse(&["--profiling", "--allow-upstream-flags", "--profiling=false"]).unwrap();
    assert_eq!(line.warnings, ["Flag --profiling has no effect here and is ignored"]);
}

#[test]
fn leader_election_can_be_switched_off() {
    // The other flags of leader election are then not validated.
    assert_eq!(settings(&["--leader-elect=false", "--leader-elect-retry-period=0s"]).leader_election, None);
}

#[rstest]
#[case("--version", "(Kubernetes v1.36)\n")]
#[case("--version=raw", "kubernetes=v1.36")]
#[case("--help", "\nEndpointslice-mirroring-controller flags:\n")]
#[case("-h", "\nSecure serving flags:\n")]
fn help_and_version_take_precedence_over_errors(#[case] argument: &str, #[case] expected: &str) {
    // Other errors on the command line are not reported.
    match parse(&["--nonsense", argument]) {
        Err(UsageError::HelpOrVersion(text)) => assert!(text.contains(expected), "{text}"),
        other => panic!("{other:?}"),
    }
    assert!(parse(&["--version=false"]).is_ok());
}

#[test]
fn own_flags_are_not_in_the_table_of_upstreams() {
    for argument in command().get_arguments() {
        let name = argument.get_long().expect("every flag has a long name");
        assert!(UpstreamFlag::find(name).is_none(), "{name}");
        assert!(argument.get_help_heading().is_some_and(|it| it.ends_with(" flags")), "{name}");
    }
}

proptest! {
    /// Parsing never panics, and `Invalid` is never empty.
    #[test]
    fn any_arguments_parse_or_fail_with_errors(arguments in prop::collection::vec(argument(), 0..6)) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if let Err(UsageError::Invalid(errors)) = parse(&arguments) {
            prop_assert!(!errors.is_empty());
        }
    }
}

/// Existing flags with plausible values, and arbitrary text.
fn argument() -> impl Strategy<Value = String> {
    let names: Vec<String> = command()
        .get_arguments()
        .filter_map(|it| it.get_long().map(str::to_owned))
        .filter(|name| name != "help")
        .chain(["profiling".to_owned(), "cluster-cidr".to_owned()])
        .collect();
    let value = prop_oneof!["[-+]?[0-9]{1,20}", "[0-9.]{1,4}(ms|s|h)", "true|false|raw|\\*|", "\\PC{0,8}"];
    prop_oneof![
        8 => (prop::sample::select(names), value).prop_map(|(name, value)| format!("--{name}={value}")),
        1 => "-{0,3}[a-z_]{0,6}",
        1 => "\\PC{0,8}",
    ]
}

#[test]
fn the_history_has_a_folder_and_limits() {
    let it = settings(&["--history-dir=/var/h", "--history-max-size=2Gi", "--history-max-age=1h30m"]);
    let (dir, max_size, max_age) = (path("/var/h"), 2 << 30, Duration::from_secs(5_400));
    assert_eq!(it.history, Some(HistorySettings { dir, max_size, max_age }));
    assert_eq!(settings(&["--history-max-size=0"]).history, None);
}

#[rstest]
#[case("--history-max-size=1023Ki", "history-max-size must be 0 or at least 1048576, but got 1047552")]
#[case("--history-max-age=0", "history-max-age must be greater than zero")]
fn limits_of_the_history_are_checked(#[case] flag: &str, #[case] expected: &str) {
    assert_eq!(errors(&[flag]), [expected]);
}

#[test]
fn shadow_mode_has_no_leader_election() {
    let it = settings(&["--mode=shadow", "--shadow-settle-period=2m", "--shadow-writer-lease="]);
    assert_eq!((it.mode, it.leader_election), (Mode::Shadow, None));
    assert_eq!((it.shadow.settle_period, it.shadow.writer_lease), (Duration::from_secs(120), None));
    let it = settings(&["--shadow-writer-lease=ops/writer"]);
    assert_eq!(it.mode, Mode::Active);
    assert_eq!(it.shadow.writer_lease.map(|lease| lease.to_string()).as_deref(), Some("ops/writer"));
}

#[rstest]
#[case("--mode=passive", "invalid argument \"passive\" for \"--mode\" flag: expected active or shadow")]
#[case("--shadow-writer-lease=writer", "shadow-writer-lease must be NAMESPACE/NAME, but got \"writer\"")]
#[case("--shadow-settle-period=0s", "shadow-settle-period must be greater than zero")]
fn invalid_mode_flags_are_rejected(#[case] argument: &str, #[case] message: &str) {
    assert_eq!(errors(&[argument]), [message]);
}
