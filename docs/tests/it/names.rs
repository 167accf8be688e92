//! Names of this project in the tables that compare it with others.

use std::collections::BTreeMap;

use kube_endpoints_testing::repository::{sources, text_of};

/// Returns the source of each library crate.
fn crates() -> Vec<String> {
    let mut crates = BTreeMap::<String, String>::new();
    for file in sources(&["crates", "testing"]) {
        let folder = file.split("/src/").next().unwrap_or_default().to_owned();
        crates.entry(folder).or_default().push_str(&text_of(file));
    }
    crates.into_values().collect()
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
    let page = text_of("docs/src/coming-from.md");
    let (sources, names) = (crates(), names(&page));
    assert!(names.len() > 50, "{names:?}");
    // Of other crates.
    let foreign = ["CancellationToken"];
    let missing: Vec<&&str> = names.iter().filter(|name| !foreign.contains(name) && !exists(&sources, name)).collect();
    assert!(missing.is_empty(), "names in the last column that no crate exports: {missing:?}");
}

#[test]
fn a_wrong_name_is_found() {
    let sources = crates();
    assert!(exists(&sources, "Controller::primary"));
    for wrong in ["Controller::prim", "Controllers::primary", "Informer::by_index_of", "Requeue"] {
        assert!(!exists(&sources, wrong), "{wrong}");
    }
}
