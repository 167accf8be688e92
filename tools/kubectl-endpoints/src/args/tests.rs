//! Tests of the command line.

use rstest::rstest;

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::parse_checked(std::iter::once("kubectl-endpoints").chain(line.split_whitespace()).map(OsString::from))
}

#[test]
fn cli_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[rstest]
#[case::slash("svc/web", "service/web")]
#[case::several("svc/web pod/web-0 ep/web eps/web-x", "service/web pod/web-0 endpoints/web endpointslice/web-x")]
#[case::separate("service web", "service/web")]
#[case::separate_names("po web-0 web-1", "pod/web-0 pod/web-1")]
#[case::plural("services/web", "service/web")]
#[case::pods("pods/web-0", "pod/web-0")]
#[case::slices("endpointslices/web-x", "endpointslice/web-x")]
#[case::group("endpointslice.discovery.k8s.io/web-x", "endpointslice/web-x")]
#[case::group_and_version("endpointslices.v1.discovery.k8s.io/web-x", "endpointslice/web-x")]
#[case::endpoints("endpoints/web", "endpoints/web")]
#[case::capitals("Service/web", "service/web")]
#[case::selected("svc -l app=web", "all service app=web")]
#[case::all("pods", "all pod ")]
#[case::flags_anywhere("-n shop svc/web --context=dev", "service/web")]
#[case::nothing("", "error")]
#[case::unknown_kind("deploy/web", "error")]
#[case::other_group("service.discovery.k8s.io/web", "error")]
#[case::no_name("svc/", "error")]
#[case::two_slashes("svc/web/x", "error")]
#[case::mixed("svc/web api", "error")]
#[case::names_and_selector("svc/web -l app=web", "error")]
#[case::all_namespaces("svc/web -A", "error")]
fn objects_to_explain(#[case] arguments: &str, #[case] expect: &str) {
    let got = parse(&format!("explain {arguments}")).map_or_else(
        |error| if error.exit_code() == 2 { "error".to_owned() } else { error.to_string() },
        |cli| {
            let Command::Explain(explain) = &cli.command else { panic!("expected explain") };
            match explain.targets(&cli.global).unwrap() {
                Targets::Named(targets) => targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
                Targets::Selected { kind, selector } => {
                    format!("all {} {}", kind.singular(), selector.unwrap_or_default())
                }
            }
        },
    );
    assert_eq!(got, expect);
}

#[rstest]
#[case::before("-n shop -o yaml check")]
#[case::after("check -n shop -o yaml")]
#[case::long("check --namespace=shop --output=yaml")]
fn global_options_may_stand_anywhere(#[case] line: &str) {
    let GlobalArgs { namespace, output, .. } = parse(line).unwrap().global;
    assert_eq!((namespace.as_deref(), output), (Some("shop"), Some(Format::Yaml)));
}

#[rstest]
#[case::none("check", false)]
#[case::switch("check --insecure-skip-tls-verify", true)]
#[case::before_the_command("--insecure-skip-tls-verify check", true)]
#[case::value("check --insecure-skip-tls-verify=T", true)]
#[case::off("check --insecure-skip-tls-verify=false", false)]
fn insecure_is_a_switch_as_in_kubectl(#[case] line: &str, #[case] expect: bool) {
    assert_eq!(parse(line).unwrap().global.insecure_skip_tls_verify, expect);
}

#[rstest]
#[case::default("check", 90_000)]
#[case::flag("check --request-timeout=2", 2_000)]
#[case::none_as_in_kubectl("check --request-timeout=0", u128::MAX)]
fn requests_have_a_timeout(#[case] line: &str, #[case] millis: u128) {
    let Timeouts { request, connect, .. } = parse(line).unwrap().global.timeouts(Timeouts::default());
    assert_eq!(request.as_millis(), millis.min(Duration::MAX.as_millis()));
    assert_eq!(connect, request.min(Timeouts::default().connect));
}

#[test]
fn record_has_a_limit_of_size_and_none_of_time() {
    let Command::Record(record) = parse("record --to=f").unwrap().command else { panic!("expected record") };
    assert_eq!((record.duration, record.max_size), (None, 512 << 20));
}

#[test]
fn token_is_not_formatted() {
    let cli = parse("check --token=secret").unwrap();
    assert!(!format!("{cli:?}").contains("secret"));
}

#[rstest]
#[case::default("diff", 100)]
#[case::flag("diff --max-endpoints-per-slice=1000", 1000)]
fn settings_have_the_limit(#[case] line: &str, #[case] limit: usize) {
    assert_eq!(parse(line).unwrap().global.settings().max_endpoints_per_slice.get(), limit);
}

#[rstest]
#[case::default("check", false)]
#[case::flag("check --endpoints-retired", true)]
fn settings_know_retired_endpoints(#[case] line: &str, #[case] expect: bool) {
    assert_eq!(parse(line).unwrap().global.settings().endpoints_retired, expect);
}

#[rstest]
#[case::no_subcommand("-n shop")]
#[case::unknown_subcommand("check-up")]
#[case::unknown_format("check -o table")]
#[case::unknown_color("check --color=blue")]
#[case::limit_too_low("check --max-endpoints-per-slice=0")]
#[case::limit_too_high("check --max-endpoints-per-slice=1001")]
#[case::timeout("check --request-timeout=-1s")]
#[case::uid_without_a_user("check --as-uid=7")]
#[case::insecure("check --insecure-skip-tls-verify=maybe")]
#[case::watch_is_of_explain("check --watch")]
#[case::moment_without_a_history("check --at=14:02")]
#[case::no_moment("check --history=f --at=noon")]
#[case::watch_of_a_moment("explain svc/web --watch --history=f --at=14:02")]
#[case::watch_of_a_history("explain svc/web --watch --history=f")]
#[case::history_of_shadow("shadow --url=x --history=f")]
#[case::history_of_record("record --to=f --history=f")]
#[case::page_of_record("record --to=f --url=x")]
#[case::page_of_nothing("shadow")]
#[case::page_without_a_moment("check --url=x")]
#[case::page_and_file("check --url=x --history=f --at=14:02")]
#[case::watch_of_a_page("explain svc/web --watch --url=x --at=14:02")]
#[case::record_to_nothing("record")]
#[case::size("record --to=f --max-size=1G")]
#[case::time_of_recording("record --to=f --for=soon")]
#[case::time_of_audit_logs("record --to=f --from-audit-log=a --for=1h")]
#[case::size_of_audit_logs("record --to=f --max-size=1Gi --from-audit-log a b")]
#[case::no_audit_log("record --to=f --from-audit-log")]
#[case::history_of_nothing("history --history=f")]
#[case::summary_of_a_service("history web --summary --history=f")]
#[case::summary_of_a_pod("history --summary --pod=web-0 --history=f")]
#[case::top_without_a_summary("history web --top=3 --history=f")]
#[case::top_of_nothing("history --summary --top=0 --history=f")]
#[case::service_of_all_namespaces("history web -A --history=f")]
#[case::page_of_a_check("check -o html")]
#[case::page_of_a_service("history web -o html --history=f")]
fn usage_errors_exit_with_2(#[case] line: &str) {
    assert_eq!(parse(line).unwrap_err().exit_code(), 2);
}

#[rstest]
#[case::selector_of_record("record --to=f -l app=web", "-l is for explain, check and diff")]
#[case::selector_of_history("history web --history=f -l app=web", "-l is for explain, check and diff")]
#[case::selector_of_summary("history --summary --history=f -l app=web", "-l is for explain, check and diff")]
#[case::selector_of_shadow(
    "shadow --url=x -l app=web",
    "shadow compares the whole cluster: -n, -A and -l are not for it"
)]
#[case::names_of_shadow("shadow --url=x -o name", "shadow prints text, JSON or YAML")]
#[case::namespace_of_shadow("shadow --url=x -n shop", "shadow compares the whole cluster")]
#[case::all_namespaces_of_shadow("shadow --url=x -A", "shadow compares the whole cluster")]
fn options_that_do_not_apply_are_rejected(#[case] line: &str, #[case] expect: &str) {
    let error = parse(line).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains(expect), "{error}");
}

#[rstest]
#[case("--help")]
#[case("explain --help")]
#[case("--version")]
fn help_and_version_exit_with_0(#[case] line: &str) {
    let error = parse(line).unwrap_err();
    assert_eq!((error.exit_code(), error.use_stderr()), (0, false));
}

#[rstest]
#[case::apply("retire apply --plan p --backup b", "")]
#[case::undo("retire undo --from b -o json", "")]
#[case::no_backup("retire apply --plan p", "--backup <FILE>")]
#[case::no_subcommand("retire", "Usage: kubectl endpoints retire")]
#[case::empty_batches("retire apply --plan p --backup b --batch-size=0", "--batch-size")]
#[case::namespace("retire apply --plan p --backup b -n shop", "the plan names the objects of retire apply")]
#[case::selector("retire undo --from b -l app=web", "the file names the objects of retire undo")]
#[case::history("retire undo --from b --history h", "--history and --url are not for retire undo")]
#[case::names("retire undo --from b -o name", "retire undo prints text, JSON or YAML")]
fn arguments_of_retire(#[case] line: &str, #[case] expect: &str) {
    let error = parse(line).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains(expect) && error.is_empty() == expect.is_empty(), "{error}");
}
