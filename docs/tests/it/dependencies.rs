//! The dependencies that the pages tell an author to write: the crates of this repository exist, and their features.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::page::{book, root};

/// Source of the crates of this repository on the pages.
const GIT: &str = r#"git = "https://github.com/kube-endpoints/kube-endpoints""#;

/// Runs `cargo metadata`, and returns its result or what it prints to standard error.
fn metadata(manifest: &Path, args: &[&str]) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--offline", "--manifest-path"]).arg(manifest).args(args);
    let output = command.output().expect("cargo runs");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Returns the folder of each crate of this repository.
fn folders() -> HashMap<String, PathBuf> {
    let all = metadata(&root().join("Cargo.toml"), &["--no-deps"]).expect("the workspace");
    let packages = all["packages"].as_array().expect("a list").iter();
    let folder = |package: &Value| {
        let manifest = PathBuf::from(package["manifest_path"].as_str()?);
        Some((package["name"].as_str()?.to_owned(), manifest.parent()?.to_owned()))
    };
    packages.map(|package| folder(package).expect("name and manifest")).collect()
}

/// Keeps the dependencies on crates of this repository, with their folders as source.
fn of_this_repository(dependencies: &str, folders: &HashMap<String, PathBuf>) -> String {
    let (mut table, mut kept) = ("", String::new());
    for line in dependencies.lines() {
        let header = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        table = header.unwrap_or(table);
        let in_table = table.split_once('.').map(|(_, name)| name);
        let name = in_table.unwrap_or_else(|| line.split(' ').next().unwrap_or_default());
        match folders.get(name) {
            Some(folder) => kept += &line.replace(GIT, &format!("path = '{}'", folder.display())),
            None => kept += header.map_or("", |_| line),
        }
        kept.push('\n');
    }
    kept
}

#[test]
fn the_features_of_dependencies_exist() {
    let folders = folders();
    let mut count = 0;
    for page in book() {
        for block in page.blocks.iter().filter(|block| block.language.as_deref() == Some("toml")) {
            let folder = tempfile::tempdir().expect("a folder");
            let package = "[package]\nname = \"author\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n";
            let manifest = folder.path().join("Cargo.toml");
            fs::write(&manifest, [package, &of_this_repository(&block.text, &folders)].concat()).expect("the manifest");
            fs::write(folder.path().join("lib.rs"), "").expect("the source");
            // The versions that are downloaded for this repository.
            fs::copy(root().join("Cargo.lock"), folder.path().join("Cargo.lock")).expect("the lock file");
            if let Err(error) = metadata(&manifest, &[]) {
                panic!("{}: {error}\n{}", page.name(), block.text);
            }
            count += 1;
        }
    }
    assert!(count >= 3, "{count} blocks");
}
