//! ARCHITECTURE.md, "Invariants": no crate has a dependency that it must not have.

use std::collections::{BTreeMap, BTreeSet};
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

/// Dependencies of each crate on others of this workspace in the tables of ARCHITECTURE.md, by the name of its directory.
/// Not of `controller-manager`, whose row says that it depends on nearly all.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = std::fs::read_to_string(file).expect("ARCHITECTURE.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter_map(|row| <[&str; 4]>::try_from(row.split(" | ").collect::<Vec<_>>()).ok());
    let rows: Vec<_> = rows.filter(|[_, package, ..]| package.starts_with('`')).collect();
    let folder = |path: &str| path.trim_matches('`').rsplit('/').next().unwrap_or_default().to_owned();
    let packages: BTreeMap<_, _> =
        rows.iter().map(|[path, package, ..]| (folder(path), package.trim_matches('`').to_owned())).collect();
    let others = rows.iter().filter(|[.., names]| !names.starts_with("all above"));
    let documented = others.map(|[path, _, _, names]| {
        let names = names.split('`').skip(1).step_by(2);
        (folder(path), names.map(|name| packages[name].clone()).collect())
    });
    documented.collect()
}

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
fn crates_import_what_their_row_says() {
    let (dependencies, documented) = (dependencies(), documented());
    assert!(documented.len() > 20, "{documented:?}");
    for (crate_name, mut expected) in documented {
        let names = dependencies.get(&crate_name).unwrap_or_else(|| panic!("no crate in a folder {crate_name}"));
        let is_checked = |name: &String| is_of_workspace(name) && (name != AMBIENT || crate_name == "apiserver");
        let imported: BTreeSet<String> = names.iter().filter(|name| is_checked(name)).cloned().collect();
        expected.retain(is_checked);
        assert_eq!(imported, expected, "imported by {crate_name}, and its row in ARCHITECTURE.md");
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
