//! Targets of links.

use std::path::{Component, Path, PathBuf};

use kube_endpoints_testing::repository::root;

use crate::page::{Page, book, elsewhere};

/// URLs with which pages of the book link to other files of the repository.
const REPOSITORY: [&str; 2] = [
    "https://github.com/kube-endpoints/kube-endpoints/tree/main/",
    "https://github.com/kube-endpoints/kube-endpoints/blob/main/",
];

/// Returns the reason why a link is broken; `None` if it is not.
fn trouble(page: &Page, link: &str, of_the_book: bool) -> Option<String> {
    let ours = REPOSITORY.iter().find_map(|prefix| link.strip_prefix(prefix));
    let (link, from, of_the_book) = match ours {
        Some(path) => (path, root(), false),
        None if link.contains("://") || link.starts_with("mailto:") => return None,
        None => (link, page.path.parent().expect("a directory"), of_the_book),
    };
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { page.path.clone() } else { plain(&from.join(path)) };
    if !target.exists() {
        return Some(format!("{} does not exist", target.display()));
    }
    if of_the_book && !target.starts_with(root().join("docs/src")) {
        return Some("not a page of the book: link to its URL on GitHub".to_owned());
    }
    let anchor = anchor?;
    let known = target.extension().is_some_and(|it| it == "md") && Page::read(&target).anchors.contains(anchor);
    (!known).then(|| format!("{} has no heading #{anchor}", target.display()))
}

/// Removes `.` and `..` from a path without reading the file system, where `..` would follow symbolic links.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn links_point_to_what_is_there() {
    let mut troubles = Vec::new();
    for (pages, of_the_book) in [(book(), true), (elsewhere(), false)] {
        for page in &pages {
            let found = page.links.iter().filter_map(|link| Some((link, trouble(page, link, of_the_book)?)));
            troubles.extend(found.map(|(link, what)| format!("{}: {link}: {what}", page.name())));
        }
    }
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

/// A relative link leads nowhere on the page of a package registry.
#[test]
fn readmes_of_published_packages_link_with_urls() {
    let is_published = |manifest: String| manifest.contains("[package]\n") && !manifest.contains("\npublish = false");
    let mut readmes = elsewhere();
    readmes.retain(|page| {
        let manifest = std::fs::read_to_string(page.path.with_file_name("Cargo.toml"));
        page.path.ends_with("README.md") && manifest.is_ok_and(is_published)
    });
    assert!(readmes.len() > 10, "{} pages", readmes.len());
    let mut relative = Vec::new();
    for page in &readmes {
        let links = page.links.iter().filter(|link| !link.contains("://") && !link.starts_with('#'));
        relative.extend(links.map(|link| format!("{}: {link}", page.name())));
    }
    assert!(relative.is_empty(), "{}", relative.join("\n"));
}

#[test]
fn a_broken_link_is_seen() {
    let page = Page::read(&root().join("docs/src/SUMMARY.md"));
    for link in ["nowhere.md", "flags.md#nowhere", "../../README.md", &format!("{}nowhere", REPOSITORY[0])] {
        assert!(trouble(&page, link, true).is_some(), "{link}");
    }
    for link in ["flags.md", "flags.md#generic-flags", "https://example.com", &format!("{}README.md", REPOSITORY[1])] {
        assert_eq!(trouble(&page, link, true), None, "{link}");
    }
}
