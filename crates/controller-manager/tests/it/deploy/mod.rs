//! The manifests in `deploy/` match the binary: it accepts the arguments, and the RBAC rules are those it uses.

mod chart;
mod container;
mod expression;
mod monitoring;
mod promql;
pub(crate) mod rights;
mod shadow;
mod started;
mod typed;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use endpoint_controller_manager::{CommandLine, Mode};
use rstest::rstest;
use serde_json::{Value, json};

const BASE: &str = "kustomize/base";
const MONITORED: &str = "kustomize/monitored";
const SHADOW: &str = "kustomize/shadow";
const SHADOW_MONITORED: &str = "kustomize/shadow-monitored";

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path)
}

/// Parses a text of several YAML documents.
pub(crate) fn split(text: &str) -> Vec<Value> {
    let pieces = text.split("\n---\n").filter(|piece| !piece.trim().is_empty());
    pieces.map(|piece| serde_saphyr::from_str(piece).unwrap_or_else(|error| panic!("{error} in {piece}"))).collect()
}

/// Reads and parses the YAML documents of a file.
fn documents(path: &Path) -> Vec<Value> {
    split(&std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Objects of the Kustomize base, by kind and name.
fn base() -> BTreeMap<String, Value> {
    let kustomization = documents(&deploy(BASE).join("kustomization.yaml")).remove(0);
    let files = kustomization["resources"].as_array().expect("resources").iter();
    by_name(files.flat_map(|file| documents(&deploy(BASE).join(text(file)))))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn arguments(pod: &Value) -> Vec<String> {
    let arguments = pod["spec"]["containers"][0]["args"].as_array().expect("arguments");
    arguments.iter().map(|it| text(it).to_owned()).collect()
}

const NAME: &str = "endpoint-controller-manager";

#[rstest]
#[case(BASE)]
#[case(SHADOW)]
#[case("kustomize/components/monitoring")]
#[case("kustomize/components/shadow-monitoring")]
fn kustomizations_list_all_their_files(#[case] folder: &str) {
    let kustomization = documents(&deploy(folder).join("kustomization.yaml")).remove(0);
    let resources = kustomization["resources"].as_array().expect("resources").iter();
    let patches = kustomization["patches"].as_array().into_iter().flatten().map(|patch| &patch["path"]);
    let mut listed: Vec<String> = resources.chain(patches).map(|file| text(file).to_owned()).collect();
    listed.retain(|file| file != "../base");
    listed.push("kustomization.yaml".to_owned());
    let mut found: Vec<String> = std::fs::read_dir(deploy(folder))
        .expect("the folder")
        .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    listed.sort();
    found.sort();
    assert_eq!(found, listed);
}

#[rstest]
#[case::deployment(&base()[&format!("Deployment/{NAME}")]["spec"]["template"])]
#[case::static_pod(&documents(&deploy("static-pod/endpoint-controller-manager.yaml"))[0])]
fn arguments_are_accepted(#[case] pod: &Value) {
    assert_accepts_arguments(pod);
}

/// Panics unless the binary accepts the arguments of the Pod, listens on the port of its probes, and elects with the
/// Lease of every other way of deploying: a chart in any namespace, the kustomization and static Pods never lead at the
/// same time.
fn assert_accepts_arguments(pod: &Value) {
    let arguments = arguments(pod);
    let line = [NAME.to_owned()].into_iter().chain(arguments.clone()).map(Into::into);
    let settings = CommandLine::parse(line).unwrap_or_else(|error| panic!("{arguments:?}: {error:?}")).settings;
    let lease = settings.leader_election.map(|election| election.lease.to_string());
    let expected = (settings.mode == Mode::Active).then(|| format!("kube-system/{NAME}"));
    assert_eq!(lease, expected, "{arguments:?}");
    // The ports of the probes.
    let container = &pod["spec"]["containers"][0];
    let port = arguments.iter().find_map(|it| it.strip_prefix("--secure-port=")).expect("a port");
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let get = &container[probe]["httpGet"];
        if get.is_null() {
            continue;
        }
        let probe_port = if get["port"] == "https" { &container["ports"][0]["containerPort"] } else { &get["port"] };
        assert_eq!(probe_port.to_string(), port, "{probe}");
        assert_eq!(get["scheme"], "HTTPS", "{probe}");
    }
}

fn by_name(objects: impl IntoIterator<Item = Value>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for object in objects {
        let name = format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        assert!(all.insert(name.clone(), object).is_none(), "{name} twice");
    }
    all
}

/// Prints a notice that the test harness does not capture: it hides `eprintln!` of tests that pass.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Renders a kustomization with kubectl; `None` without kubectl.
fn kustomized(folder: &str) -> Option<BTreeMap<String, Value>> {
    let output = match Command::new("kubectl").arg("kustomize").arg(deploy(folder)).output() {
        Ok(output) => output,
        Err(error) => {
            skipped(&format!("kubectl, which renders {folder}, cannot be run: {error}"));
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(by_name(split(&String::from_utf8(output.stdout).expect("UTF-8"))))
}

#[rstest]
#[case::base(BASE, &[])]
#[case::monitored(MONITORED, &[
    "ClusterRole/endpoint-controller-manager-metrics-reader", "ConfigMap/endpoint-controller-manager-dashboard",
    "PrometheusRule/endpoint-controller-manager", "ServiceMonitor/endpoint-controller-manager",
])]
fn kubectl_renders_the_kustomizations(#[case] folder: &str, #[case] more: &[&str]) {
    let Some(rendered) = kustomized(folder) else { return };
    let mut expected: Vec<String> = base().into_keys().chain(more.iter().map(|it| (*it).to_owned())).collect();
    expected.sort();
    assert_eq!(rendered.keys().cloned().collect::<Vec<_>>(), expected);
    for (name, object) in &rendered {
        let namespace = if name.starts_with("Cluster") { Value::Null } else { json!("kube-system") };
        assert_eq!(object["metadata"]["namespace"], namespace, "{name}");
        typed::check(object);
    }
}

#[rstest]
#[case("endpoint-controller-manager.yaml")]
#[case("rights.yaml")]
fn static_pod_files_match_their_types(#[case] file: &str) {
    documents(&deploy("static-pod").join(file)).iter().for_each(typed::check);
}

/// Both build the image: from source, and from the files of a release.
#[rstest]
#[case("Dockerfile")]
#[case("image/Dockerfile")]
fn images_run_as_the_user_of_the_manifests(#[case] file: &str) {
    let dockerfile = std::fs::read_to_string(deploy(file)).expect("a Dockerfile");
    let values = |instruction: &str| -> Vec<String> {
        let lines = dockerfile.lines().filter_map(|line| line.strip_prefix(instruction));
        lines.map(|line| line.trim().to_owned()).collect()
    };
    for image in values("FROM ").iter().filter(|image| *image != "scratch") {
        let digest = image.split_once("@sha256:").and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
        assert_eq!(digest.len(), 64, "{image} is not named by digest");
    }
    assert_eq!(values("ENTRYPOINT "), ["[\"/controller-manager\"]"]);
    let deployment = &base()[&format!("Deployment/{NAME}")]["spec"]["template"];
    for pod in [deployment, &documents(&deploy("static-pod/endpoint-controller-manager.yaml"))[0]] {
        let security = &pod["spec"]["containers"][0]["securityContext"];
        assert_eq!(values("USER "), [format!("{}:{}", security["runAsUser"], security["runAsGroup"])]);
    }
}
