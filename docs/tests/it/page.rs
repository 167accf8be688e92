//! A page, as far as the checks are interested.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A Markdown file, read.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    /// Where links and images point to.
    pub(crate) links: Vec<String>,
    /// Headings as one can link to them.
    pub(crate) anchors: HashSet<String>,
    /// Headings as they are written, code in back quotes.
    pub(crate) headings: Vec<String>,
    /// Code within text.
    pub(crate) spans: Vec<String>,
    /// Code in blocks.
    pub(crate) blocks: Vec<Block>,
}

/// A block of code.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// What stands behind its fence; nothing where it is only indented.
    pub(crate) language: Option<String>,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a parent").to_owned()
}

/// The pages of the book.
pub(crate) fn book() -> Vec<Page> {
    in_folder(&root().join("docs/src")).iter().map(|path| Page::read(path)).collect()
}

/// The other pages of the repository: of its root, of what is deployed, of crates and tests.
pub(crate) fn elsewhere() -> Vec<Page> {
    let crates = std::fs::read_dir(root().join("crates")).expect("crates");
    let crates = crates.map(|it| it.expect("an entry").path()).filter(|path| path.is_dir());
    let folders = ["", "docs", "deploy", "conformance", "fuzz"].map(|folder| root().join(folder));
    folders.into_iter().chain(crates).flat_map(|folder| in_folder(&folder)).map(|path| Page::read(&path)).collect()
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    pages.sort();
    pages
}

impl Page {
    pub(crate) fn read(path: &Path) -> Page {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Page { path: path.to_owned(), ..Page::parse(&included(path, &text)) }
    }

    fn parse(text: &str) -> Page {
        let (mut page, mut seen) = (Page::default(), HashMap::<String, usize>::new());
        let (mut heading, mut block) = (None::<String>, None::<Block>);
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let text = heading.take().unwrap_or_default();
                    let anchor = anchor(&text);
                    let count = seen.entry(anchor.clone()).or_default();
                    page.anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
                    *count += 1;
                    page.headings.push(text);
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Indented => None,
                        CodeBlockKind::Fenced(language) => Some(language.into_string()),
                    };
                    block = Some(Block { language, text: String::new() });
                }
                Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
                Event::Text(text) => {
                    if let Some(block) = &mut block {
                        block.text.push_str(&text);
                    } else if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.extend(["`", &text, "`"]);
                    }
                    page.spans.push(text.into_string());
                }
                _ => {}
            }
        }
        page
    }

    /// Its path from the root of the repository.
    pub(crate) fn name(&self) -> String {
        self.path.strip_prefix(root()).unwrap_or(&self.path).display().to_string()
    }

    /// The last part of its path.
    pub(crate) fn file(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

/// What mdBook puts in for `{{#include}}`.
fn included(path: &Path, text: &str) -> String {
    let Some((before, (name, after))) =
        text.split_once("{{#include ").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    else {
        return text.to_owned();
    };
    let file = path.parent().expect("a folder").join(name);
    let there = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    format!("{before}{there}{}", included(path, after))
}

/// As GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|it| it.is_alphanumeric() || matches!(it, '-' | '_' | ' '));
    kept.map(|it| if it == ' ' { '-' } else { it.to_ascii_lowercase() }).collect()
}

#[test]
fn what_is_seen_of_a_page() {
    let text =
        "# A `b`, c\n\nSee [x](y.md#z) and `--flag=1`.\n\n## Twice\n\n## Twice\n\n```sh\nrun\n```\n\n    indented\n";
    let page = Page::parse(text);
    assert_eq!((page.links, page.spans), (vec!["y.md#z".to_owned()], vec!["b".to_owned(), "--flag=1".to_owned()]));
    assert_eq!(page.headings, ["A `b`, c", "Twice", "Twice"]);
    assert_eq!(page.anchors, ["a-b-c", "twice", "twice-1"].map(str::to_owned).into());
    let blocks: Vec<_> = page.blocks.iter().map(|it| (it.language.as_deref(), it.text.as_str())).collect();
    assert_eq!(blocks, [(Some("sh"), "run\n"), (None, "indented\n")]);
}
