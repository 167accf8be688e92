//! Parser for the parts of a Markdown page that the tests check.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use kube_endpoints_testing::repository::{root, text_of};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A parsed Markdown file.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    /// Targets of links and images.
    pub(crate) links: Vec<String>,
    /// Anchors of the headings.
    pub(crate) anchors: HashSet<String>,
    /// Texts of the headings, with code in backquotes.
    pub(crate) headings: Vec<String>,
    /// Inline code.
    pub(crate) spans: Vec<String>,
    /// Code blocks.
    pub(crate) blocks: Vec<Block>,
}

/// A code block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The info string of the fence; `None` for an indented block.
    pub(crate) language: Option<String>,
    pub(crate) text: String,
}

/// Directory of the pages of the book.
const BOOK: &str = "docs/src";

/// Returns the pages of the book. Its directories other than `contract` contain files that pages include.
pub(crate) fn book() -> Vec<Page> {
    let folders = [root().join(BOOK), root().join(BOOK).join("contract")];
    folders.iter().flat_map(|folder| in_folder(folder)).map(|path| Page::read(&path)).collect()
}

/// Returns the pages in the root of the repository, in `docs` and `deploy`, and of the crates.
pub(crate) fn elsewhere() -> Vec<Page> {
    let groups = ["crates", "testing", "tools"].map(|group| std::fs::read_dir(root().join(group)).expect("crates"));
    let crates = groups.into_iter().flatten().map(|it| it.expect("an entry").path()).filter(|path| path.is_dir());
    let folders = ["", "docs", "deploy"].map(|folder| root().join(folder));
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
        Page { path: path.to_owned(), ..Page::parse(&included(path, &text_of(path))) }
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
                // `<a id="EP102">` within a heading.
                Event::InlineHtml(html) => {
                    let id = html.strip_prefix("<a id=\"").and_then(|it| it.strip_suffix("\">"));
                    page.anchors.extend(id.map(str::to_owned));
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

    /// Returns the path relative to the root of the repository.
    pub(crate) fn name(&self) -> String {
        self.path.strip_prefix(root()).unwrap_or(&self.path).display().to_string()
    }

    /// Returns the path relative to `docs/src`, as `SUMMARY.md` links it.
    pub(crate) fn name_in_book(&self) -> String {
        self.path.strip_prefix(root().join(BOOK)).unwrap_or(&self.path).display().to_string()
    }

    /// Returns the file name.
    pub(crate) fn file(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

/// Replaces `{{#include}}` by the contents of the file, as mdBook does.
fn included(path: &Path, text: &str) -> String {
    let Some((before, (name, after))) =
        text.split_once("{{#include ").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    else {
        return text.to_owned();
    };
    let file = path.parent().expect("a directory").join(name);
    format!("{before}{}{}", text_of(file), included(path, after))
}

/// Returns the anchor of a heading, with the rules of GitHub and mdBook.
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
