//! The dependencies that the pages tell an author to write: the crates of this repository exist, and their features.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use kube_endpoints_testing::repository::root;
use serde_json::Value;

use crate::page::book;

/// Returns the packages of a manifest. Nothing is resolved, so nothing need be downloaded.
fn packages(manifest: &Path) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--offline", "--no-deps", "--manifest-path"]).arg(manifest);
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("a list").clone()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

#[test]
fn the_features_of_dependencies_exist() {
    let own: HashMap<String, Value> = packages(&root().join("Cargo.toml"))
        .into_iter()
        .map(|package| (text(&package["name"]).to_owned(), package["features"].clone()))
        .collect();
    let mut count = 0;
    for page in book() {
        for block in page.blocks.iter().filter(|block| block.language.as_deref() == Some("toml")) {
            let folder = tempfile::tempdir().expect("a folder");
            let manifest = folder.path().join("Cargo.toml");
            let package = "[package]\nname = \"author\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n";
            fs::write(&manifest, [package, &block.text].concat()).expect("the manifest");
            fs::write(folder.path().join("lib.rs"), "").expect("the source");
            let author = packages(&manifest).remove(0);
            let dependencies = author["dependencies"].as_array().expect("a list").iter();
            for dependency in dependencies.filter(|it| it["source"].as_str().is_some_and(|it| it.starts_with("git+"))) {
                let name = text(&dependency["name"]);
                let known = own.get(name).unwrap_or_else(|| panic!("{}: no crate {name} here", page.name()));
                for feature in dependency["features"].as_array().expect("a list") {
                    let exists = known.get(text(feature)).is_some();
                    assert!(exists, "{}: {name} has no feature {feature}", page.name());
                }
                count += 1;
            }
        }
    }
    assert!(count >= 4, "{count} dependencies");
}
