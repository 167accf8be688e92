//! Names of this project in the tables that compare it with others.

use std::fs;

use crate::page::root;

/// Returns the public items of all library crates, as their `API.rs` lists them.
fn apis() -> Vec<String> {
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    crates.filter_map(|entry| fs::read_to_string(entry.expect("an entry").path().join("API.rs")).ok()).collect()
}

/// Returns whether a crate has an item of this name, or a type with this method.
fn exists(apis: &[String], name: &str) -> bool {
    let has = |api: &str, start: &str, name: &str| {
        api.match_indices(&format!("{start} {name}")).any(|(at, found)| {
            api[at + found.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric() && next != '_')
        })
    };
    let (item, method) = name.split_once("::").map_or((name, None), |(item, method)| (item, Some(method)));
    let kinds = ["struct", "enum", "trait", "fn"];
    apis.iter().any(|api| {
        let is_here = kinds.iter().any(|kind| has(api, kind, item)) || api.contains(&format!("::{item};"));
        is_here && method.is_none_or(|method| has(api, "fn", method))
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
    let (apis, names) = (apis(), names(&page));
    assert!(names.len() > 50, "{names:?}");
    // Of other crates.
    let foreign = ["CancellationToken"];
    let missing: Vec<&&str> = names.iter().filter(|name| !foreign.contains(name) && !exists(&apis, name)).collect();
    assert!(missing.is_empty(), "names in the last column that no crate exports: {missing:?}");
}

#[test]
fn a_wrong_name_is_found() {
    let apis = apis();
    assert!(exists(&apis, "Controller::primary"));
    for wrong in ["Controller::prim", "Controllers::primary", "Informer::by_index_of", "Requeue"] {
        assert!(!exists(&apis, wrong), "{wrong}");
    }
}
