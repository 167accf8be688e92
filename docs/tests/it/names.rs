//! Names of this project in the tables that compare it with others.

use std::fs;
use std::path::Path;

use crate::page::root;

/// Returns the source of each library crate.
fn sources() -> Vec<String> {
    let groups = ["crates", "testing"].map(|group| fs::read_dir(root().join(group)).expect("crates"));
    let folders = groups.into_iter().flatten().map(|entry| entry.expect("an entry").path().join("src"));
    folders.filter(|folder| folder.join("lib.rs").exists()).map(|folder| source(&folder)).collect()
}

fn source(folder: &Path) -> String {
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    paths.map(|path| if path.is_dir() { source(&path) } else { fs::read_to_string(&path).expect("UTF-8") }).collect()
}

/// Returns whether a crate declares a public item of this name, or a type with this method.
fn exists(sources: &[String], name: &str) -> bool {
    let has = |source: &str, start: &str, name: &str| {
        source.match_indices(&format!("{start} {name}")).any(|(at, found)| {
            source[at + found.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric() && next != '_')
        })
    };
    let (item, method) = name.split_once("::").map_or((name, None), |(item, method)| (item, Some(method)));
    let kinds = ["pub struct", "pub enum", "pub trait", "pub type"];
    sources.iter().any(|source| {
        kinds.iter().any(|kind| has(source, kind, item)) && method.is_none_or(|method| has(source, "fn", method))
    })
}

/// Returns the names in the last column of the tables of a page: a type or function, or a type and its method.
fn names(page: &str) -> Vec<&str> {
    let cells = page.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.rsplit('|').nth(1));
    let spans = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let is_name = |span: &&str| {
        span.chars().all(|it| it.is_alphanumeric() || "_:".contains(it)) && span.starts_with(char::is_uppercase)
    };
    spans.filter(is_name).collect()
}

#[test]
fn compared_names_exist() {
    let page = fs::read_to_string(root().join("docs/src/coming-from.md")).expect("docs/src/coming-from.md");
    let (sources, names) = (sources(), names(&page));
    assert!(names.len() > 50, "{names:?}");
    // Of other crates.
    let foreign = ["CancellationToken"];
    let missing: Vec<&&str> = names.iter().filter(|name| !foreign.contains(name) && !exists(&sources, name)).collect();
    assert!(missing.is_empty(), "names in the last column that no crate exports: {missing:?}");
}

#[test]
fn a_wrong_name_is_found() {
    let sources = sources();
    assert!(exists(&sources, "Controller::primary"));
    for wrong in ["Controller::prim", "Controllers::primary", "Informer::by_index_of", "Requeue"] {
        assert!(!exists(&sources, wrong), "{wrong}");
    }
}
