//! ARCHITECTURE.md, "What must stay true": no crate has a dependency that it must not have.

use std::collections::BTreeMap;
use std::path::Path;

/// Dependencies of each crate, without `dev-dependencies`, by the name of its directory.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = std::fs::read_dir(&crates).expect("the folder of crates");
    folders
        .filter_map(|entry| {
            let folder = entry.expect("an entry").path();
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
            Some((folder.file_name()?.to_string_lossy().into_owned(), names(&manifest)))
        })
        .collect()
}

fn names(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]"
            && !line.starts_with('#')
            && let Some(end) = line.find(['.', ' ', '='])
        {
            names.push(line[..end].to_owned());
        }
    }
    names
}

/// Crates of this workspace that each crate may depend on, besides [`AMBIENT`].
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("ambient", &[]),
    ("workqueue", &[]),
    ("wire", &[]),
    ("leader-election", &["kube-controller-client", "kube-wire"]),
    ("apiserver", &["kube-wire"]),
    ("client", &["kube-wire", "kube-workqueue"]),
    ("informer", &["kube-wire", "kube-controller-client"]),
    ("controller", &["kube-informer", "kube-wire", "kube-workqueue"]),
    ("model", &["kube-wire"]),
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
        "simulation",
        &["endpoint-controller-manager", "kube-controller-client", "kube-dev-apiserver", "kube-endpoints-conformance"],
    ),
];

/// Crate that every crate that may read a clock may depend on.
const AMBIENT: &str = "kube-ambient";

/// Whether a crate is of this workspace: its name starts with `kube-`, or it is one of the two programs.
fn is_ours(name: &str) -> bool {
    ["devcluster", "endpoint-controller-manager"].contains(&name) || (name.starts_with("kube-") && name != "kube-core")
}

/// Crates with a runtime, a clock, a client or HTTP.
const IMPURE: &[&str] = &["tokio", "tokio-util", "kube", "hyper", "hyper-util", "axum", "reqwest", "futures", AMBIENT];

#[test]
fn rooms_import_only_what_they_may() {
    let dependencies = dependencies();
    for (room, allowed) in MAY_IMPORT {
        let names = dependencies.get(*room).unwrap_or_else(|| panic!("no crate in crates/{room}"));
        assert!(!names.is_empty(), "no dependencies found in the manifest of {room}");
        let beside = |name: &&String| is_ours(name) && (*name != AMBIENT || *room == "apiserver");
        for name in names.iter().filter(beside) {
            assert!(allowed.contains(&name.as_str()), "crates/{room} must not import {name}");
        }
    }
}

#[test]
fn pure_rooms_know_no_runtime() {
    let dependencies = dependencies();
    for room in ["wire", "model", "topology"] {
        for name in &dependencies[room] {
            assert!(!IMPURE.contains(&name.as_str()), "crates/{room} is pure and must not import {name}");
        }
    }
}

#[test]
fn only_the_client_knows_kube_and_no_controller_the_api_server() {
    for (room, names) in dependencies() {
        let knows = |name: &str| names.iter().any(|it| it == name);
        assert!(room == "client" || !knows("kube"), "crates/{room} must not import kube");
        assert!(
            ["devcluster", "simulation"].contains(&room.as_str()) || !knows("kube-dev-apiserver"),
            "crates/{room} must not import kube-dev-apiserver"
        );
        for program in ["devcluster", "kube-simulation"] {
            assert!(!knows(program), "crates/{room} must not import {program}");
        }
    }
}
