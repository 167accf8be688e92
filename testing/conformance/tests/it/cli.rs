//! The program `slice-conformance`: the controllers of this repository pass with each profile, a controller with a label
//! of its own passes with its own profile, and broken controllers fail with a clear report.
//!
//! By their name, these tests start before the hostile scenarios: they wait longest.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
    thread,
};

use rstest::rstest;

use crate::ours;

const NAIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/naive/profile.yaml");

/// Time limits that only a hang reaches, and servers for all scenarios at once: they mostly wait.
const PATIENT: [&str; 4] = ["--start-timeout=300", "--timeout=300", "--stop-timeout=300", "--jobs=12"];

/// Result of the program.
struct Run {
    code: Option<i32>,
    report: String,
    progress: String,
}

impl From<Output> for Run {
    fn from(Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
        Self { code: status.code(), report: text(stdout), progress: text(stderr) }
    }
}

impl Run {
    /// Returns the line with the numbers of scenarios.
    fn summary(&self) -> &str {
        self.report.lines().last().unwrap_or_default()
    }

    #[track_caller]
    fn expect(&self, code: i32, summary: &str) {
        let Self { report, progress, .. } = self;
        assert_eq!((self.code, self.summary()), (Some(code), summary), "report:\n{report}\nprogress:\n{progress}");
    }
}

fn slice_conformance() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slice-conformance"));
    command.stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Run {
    slice_conformance().args(arguments).output().expect("the program runs").into()
}

/// Returns the path of an example, which `cargo test` has built unless it was restricted to some tests.
///
/// Not `cargo build -p` for every program: with other features than those of `cargo test --workspace`, it would compile all
/// crates once more.
fn example(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_slice-conformance")).with_file_name("examples").join(name);
    if !is_fresh(&program) {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "kube-endpoints-conformance", "--example", name]);
        let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    program
}

/// Returns whether a program is newer than all sources in the list that cargo writes beside it.
fn is_fresh(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|it| it.modified()).ok();
    let list = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let Some((_, sources)) = list.trim_end().split_once(": ") else { return false };
    let sources = sources.replace("\\ ", "\0");
    sources.split(' ').all(|source| {
        let changed_at = changed(Path::new(&source.replace('\0', " ")));
        changed_at.is_some() && changed_at <= changed(program)
    })
}

fn naive() -> &'static Path {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| example("naive"));
    &PATH
}

/// Returns the path of the `controller-manager` in `CONFORMANCE_CONTROLLERS`, or of the one that is built with these tests.
fn controller_manager() -> &'static Path {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| match env::var("CONFORMANCE_CONTROLLERS") {
        Ok(path) if path.contains('/') => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
        _ => example("controllers"),
    });
    &PATH
}

fn naive_command(more: &str) -> String {
    format!("'{}' --kubeconfig={{kubeconfig}} {more}", naive().display())
}

#[rstest]
#[case::all("controller-manager", "*", &["hostile/standby"], "6 passed, 0 failed")]
#[case::slices("service-slices", "endpointslice-controller", &["hostile/changed/label"], "5 passed, 0 failed, 2 skipped")]
#[case::endpoints("endpoints", "endpoints-controller", &["hostile/changed/label", "hostile/edits"], "8 passed, 0 failed, 1 skipped")]
#[case::mirrored("mirrored-slices", "endpointslice-mirroring-controller", &["hostile/mirrored"], "2 passed, 0 failed, 4 skipped")]
fn the_controllers_of_this_repository_pass(
    #[case] profile: &str,
    #[case] controllers: &str,
    #[case] hostile: &[&str],
    #[case] summary: &str,
) {
    let mut arguments = vec!["--profile".to_owned(), profile.to_owned()];
    let controllers = format!("--controllers={controllers}");
    let command = |more: &str| ours::command(controller_manager(), &format!("{controllers} {more}"));
    // The service accounts have the rights of the bootstrap roles, which this file contains.
    arguments.push(format!("--rights={}/rights.yaml", env!("CARGO_MANIFEST_DIR")));
    arguments.push("--user=endpoint-controller-manager".to_owned());
    arguments.push(format!("--controller={}", command(ours::CREDENTIALS)));
    arguments
        .push(format!("--controller-resync={}", command(&format!("{} --min-resync-period=2s", ours::CREDENTIALS))));
    arguments.push(format!("--controller-elected={}", command("")));
    let recorded =
        ["core/dual-stack", "core/slice-edited", "core/endpoints-edited", "core/mirror-dual", "random/random-114"];
    arguments.extend(recorded.iter().chain(hostile).map(|&it| it.to_owned()));
    let run = run(&arguments.iter().map(String::as_str).chain(PATIENT).collect::<Vec<_>>());
    run.expect(0, summary);
}

#[test]
fn a_controller_with_its_own_label_passes_with_its_own_profile() {
    let controller = naive_command("");
    let recorded =
        ["core/dual-stack", "core/pack-250", "core/service-deleted", "core/slice-edited", "random/random-114"];
    let hostile = ["hostile/changed/label", "hostile/deletions", "hostile/responses/reset", "hostile/times/last"];
    let mut arguments = vec!["--profile", NAIVE, "--controller", &controller];
    arguments.extend(recorded.iter().chain(&hostile).chain(&PATIENT));
    run(&arguments).expect(0, "12 passed, 0 failed, 5 skipped");
}

#[test]
fn the_profile_of_another_label_finds_nothing() {
    let controller = naive_command("");
    let arguments = ["--profile=own-label", "--start-timeout=3", "--controller", &controller, "core/dual-stack"];
    let run = run(&arguments);
    run.expect(1, "0 passed, 1 failed");
    assert!(run.report.contains("the controllers have not started: no object of service-slices"), "{}", run.report);
}

#[rstest]
#[case::never_deletes("never-deletes", "core/force-delete", &[", step 2:", "unexpected"])]
#[case::writes_endlessly("writes-endlessly", "core/no-ready-condition", &[", step 1:", "still changes 6 s after the last operation"])]
#[case::ignores_readiness("ignores-readiness", "core/no-ready-condition", &[", step 1:", "conditions.ready: expected false, found true"])]
#[case::writes_endlessly_hostile("writes-endlessly", "hostile/times/last", &["writes within 3s although nothing changed", "update endpointslices"])]
#[case::crashes("crashes", "core/dual-stack", &["the controllers exited during the test: exit status: 1", "this is a defect"])]
fn a_broken_controller_fails(#[case] defect: &str, #[case] scenario: &str, #[case] reasons: &[&str]) {
    let controller = naive_command(&format!("--defect={defect}"));
    let arguments = ["--profile", NAIVE, "--timeout=6", "--controller", &controller, scenario];
    let run = run(&arguments);
    assert_eq!(run.code, Some(1), "{}\n{}", run.report, run.progress);
    for reason in reasons {
        assert!(run.report.contains(reason), "no {reason:?} in:\n{}", run.report);
    }
    assert!(run.report.starts_with("FAILED "), "{}", run.report);
}

/// Without the entries of `skip` in its profile, the naive controller fails: it repairs what a policy changes, and the
/// policy changes it again.
#[test]
fn a_controller_that_argues_with_a_policy_fails() {
    let files = tempfile::tempdir().expect("a directory");
    let profile = files.path().join("profile.yaml");
    let text = std::fs::read_to_string(NAIVE).expect("the profile is readable");
    let (claims, _) = text.split_once("skip:").expect("the profile skips scenarios");
    std::fs::write(&profile, claims).expect("the profile is written");
    let (profile, controller) = (profile.display().to_string(), naive_command(""));
    let run = run(&[
        "--profile",
        &profile,
        "--timeout=8",
        "--controller",
        &controller,
        "hostile/changed/endpoints-reordered",
    ]);
    run.expect(1, "0 passed, 1 failed");
    assert!(run.report.contains("the controllers do not settle"), "{}", run.report);
}

#[test]
fn a_controller_that_is_started_elsewhere_is_tested() {
    let naive = naive();
    let mut child = slice_conformance()
        .args(["--profile", NAIVE, "core/dual-stack", "random/random-114", "hostile/times/last"])
        .args(PATIENT)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut lines = errors.by_ref().map_while(Result::ok);
    let kubeconfig = lines.find_map(|line| line.strip_prefix("kubeconfig: ").map(str::to_owned));
    let kubeconfig = kubeconfig.expect("the program prints the path of a kubeconfig");
    let rest = thread::spawn(move || errors.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    let mut controller = Command::new(naive).arg(format!("--kubeconfig={kubeconfig}")).spawn().expect("it runs");
    let mut report = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut report).expect("the report is read");
    let code = child.wait().expect("the program ends").code();
    controller.kill().expect("the controller runs until the end");
    controller.wait().expect("the controller ends");
    let progress = rest.join().expect("the thread ends");
    Run { code, report, progress }.expect(0, "4 passed, 0 failed");
}

#[test]
fn the_list_shows_what_applies_and_why_the_rest_does_not() {
    let run = run(&["--list", "--profile=mirrored-slices", "mirror", "core/dual-stack", "hostile/hints"]);
    run.expect(0, "SKIPPED hostile/hints/reported-once: the profile has no service-slices");
    for line in [
        "core/mirror-dual: ",
        "hostile/mirrored/name-kept: An updated mirrored slice keeps its name",
        "SKIPPED core/dual-stack: it has no Endpoints to mirror",
        "SKIPPED core/mirror-selector-removed: it changes Endpoints that only the Endpoints controller creates",
    ] {
        assert!(run.report.lines().any(|it| it.starts_with(line)), "no line {line:?} in:\n{}", run.report);
    }
}

#[rstest]
#[case::profile(&["--profile=none"], "none is neither a built-in profile (controller-manager, service-slices,")]
#[case::filter(&["core/none"], "no scenario matches the filters")]
#[case::nothing_applies(&["--profile=mirrored-slices", "core/no-pods"], "none of the selected scenarios applies")]
#[case::quote(&["--controller='x"], "a quote is not closed")]
#[case::settle(&["--settle=2.9"], "must be at least 3")]
#[case::seconds(&["--timeout=soon"], "expected a number of seconds")]
#[case::negative(&["--timeout=-1"], "negative")]
#[case::variant_alone(&["--controller-elected=x"], "--controller <COMMAND>")]
fn a_usage_error_has_status_2(#[case] arguments: &[&str], #[case] message: &str) {
    let run = run(arguments);
    assert_eq!(run.code, Some(2), "{}", run.progress);
    assert!(run.progress.contains(message), "{}", run.progress);
}

#[test]
fn the_built_in_profiles_are_valid_templates() {
    let run = run(&["--show-profiles"]);
    assert_eq!(run.code, Some(0));
    assert_eq!(run.report.matches("\nabout: ").count(), 5, "{}", run.report);
}
