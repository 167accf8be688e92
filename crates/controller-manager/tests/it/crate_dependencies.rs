//! ARCHITECTURE.md, "Invariants": no crate has a dependency that it must not have.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Dependencies of each crate, without `dev-dependencies`, by the name of its directory: as cargo reports them.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let crates = packages.iter().filter_map(|package| {
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?.file_name()?;
        let dependencies = package["dependencies"].as_array()?.iter().filter(|it| it["kind"] != "dev");
        let names = dependencies.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect();
        Some((folder.to_str()?.to_owned(), names))
    });
    crates.collect()
}

/// Crates of this workspace that each crate may depend on, besides [`AMBIENT`].
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("ambient", &[]),
    ("workqueue", &[]),
    ("wire", &[]),
    ("leader-election", &["kube-controller-client", "kube-wire"]),
    ("apiserver", &[]),
    ("client", &["kube-wire", "kube-workqueue"]),
    ("informer", &["kube-wire", "kube-controller-client"]),
    ("controller", &["kube-controller-client", "kube-informer", "kube-wire", "kube-workqueue"]),
    (
        "program",
        &[
            "kube-controller",
            "kube-controller-client",
            "kube-controller-serving",
            "kube-informer",
            "kube-lease-election",
            "kube-wire",
            "kube-workqueue",
        ],
    ),
    ("serving", &["kube-controller", "kube-controller-client", "kube-wire"]),
    ("model", &["kube-informer", "kube-wire"]),
    ("support", &["kube-wire"]),
    ("topology", &["kube-endpoint-model"]),
    (
        "endpointslice",
        &[
            "kube-controller",
            "kube-controller-client",
            "kube-endpoint-model",
            "kube-informer",
            "kube-topology",
            "kube-wire",
            "kube-workqueue",
        ],
    ),
    (
        "endpoint",
        &[
            "kube-controller",
            "kube-controller-client",
            "kube-endpoint-model",
            "kube-informer",
            "kube-wire",
            "kube-workqueue",
        ],
    ),
    (
        "mirroring",
        &[
            "kube-controller",
            "kube-controller-client",
            "kube-endpoint-model",
            "kube-endpointslice",
            "kube-informer",
            "kube-wire",
            "kube-workqueue",
        ],
    ),
    (
        "explain",
        &[
            "kube-endpoint",
            "kube-endpoint-model",
            "kube-endpointslice",
            "kube-endpointslice-mirroring",
            "kube-topology",
            "kube-wire",
        ],
    ),
    ("history", &["kube-endpoint-model", "kube-endpoints-explain", "kube-informer", "kube-wire"]),
    ("retire", &["kube-endpoint-model", "kube-endpoints-explain", "kube-endpoints-history", "kube-wire"]),
    (
        "shadow",
        &[
            "kube-controller",
            "kube-controller-client",
            "kube-endpoint-model",
            "kube-endpoints-explain",
            "kube-informer",
            "kube-lease-election",
            "kube-wire",
        ],
    ),
    (
        "kubectl-endpoints",
        &[
            "kube-controller-client",
            "kube-endpoint-model",
            "kube-endpoints-explain",
            "kube-endpoints-history",
            "kube-endpoints-retire",
            "kube-informer",
            "kube-wire",
        ],
    ),
    (
        "simulation",
        &["endpoint-controller-manager", "kube-controller-client", "kube-dev-apiserver", "kube-endpoints-conformance"],
    ),
];

/// Crate that every crate that may read a clock may depend on.
const AMBIENT: &str = "kube-ambient";

/// Whether a crate is of this workspace: its name starts with `kube-`, or it is one of the two programs.
fn is_of_workspace(name: &str) -> bool {
    ["devcluster", "endpoint-controller-manager"].contains(&name)
        || (name.starts_with("kube-") && !["kube-cel", "kube-core"].contains(&name))
}

/// Crates with a runtime, a clock, a client or HTTP.
const IMPURE: &[&str] = &["tokio", "tokio-util", "kube", "hyper", "hyper-util", "axum", "reqwest", "futures", AMBIENT];

#[test]
fn crates_import_only_what_they_may() {
    let dependencies = dependencies();
    for (crate_name, allowed) in MAY_IMPORT {
        let names = dependencies.get(*crate_name).unwrap_or_else(|| panic!("no crate in a folder {crate_name}"));
        assert!(!names.is_empty(), "no dependencies found in the manifest of {crate_name}");
        let is_checked = |name: &&String| is_of_workspace(name) && (*name != AMBIENT || *crate_name == "apiserver");
        for name in names.iter().filter(is_checked) {
            assert!(allowed.contains(&name.as_str()), "crates/{crate_name} must not import {name}");
        }
    }
}

#[test]
fn pure_crates_import_no_runtime() {
    let dependencies = dependencies();
    for crate_name in ["wire", "model", "topology"] {
        for name in &dependencies[crate_name] {
            assert!(!IMPURE.contains(&name.as_str()), "crates/{crate_name} is pure and must not import {name}");
        }
    }
}

#[test]
fn only_client_and_informer_import_kube_and_no_controller_the_api_server() {
    for (crate_name, names) in dependencies() {
        let imports = |name: &str| names.iter().any(|it| it == name);
        let may_import_kube = ["client", "informer"].contains(&crate_name.as_str());
        assert!(may_import_kube || !imports("kube"), "crates/{crate_name} must not import kube");
        assert!(
            ["conformance", "devcluster", "simulation"].contains(&crate_name.as_str())
                || !imports("kube-dev-apiserver"),
            "crates/{crate_name} must not import kube-dev-apiserver"
        );
        for for_tests in ["devcluster", "kube-endpoints-testing", "kube-simulation"] {
            assert!(!imports(for_tests), "crates/{crate_name} must not import {for_tests}");
        }
    }
}
