//! The reference page of the reason codes, and the codes that pages mention.

use std::collections::BTreeSet;

use kube_endpoint_model::Code;
use kube_endpoints_explain::Severity;
use kube_endpoints_testing::repository::text_of;

use crate::page::book;

/// A heading of level 2 and the text below it.
struct Section<'a> {
    /// Without the anchor.
    heading: &'a str,
    anchor: &'a str,
    /// The heading of level 1 above it.
    group: &'a str,
    lines: Vec<&'a str>,
}

impl Section<'_> {
    /// Returns what is wrong with the anchor, the group, the severity and the text of the section.
    fn problems(&self) -> Vec<String> {
        let code = self.heading.split(':').next().unwrap_or_default();
        let mut problems = Vec::new();
        if self.anchor != code {
            problems.push(format!("has the anchor {:?}", self.anchor));
        }
        if !code.get(..3).is_some_and(|hundred| self.group.starts_with(&format!("{hundred}xx: "))) {
            problems.push(format!("in the group {:?}", self.group));
        }
        let severity = Code::ALL.iter().find(|it| it.as_str() == code).map(|it| it.severity());
        let start = match severity {
            Some(Severity::Error) => "**Error.** ",
            Some(Severity::Warning) => "**Warning.** ",
            Some(Severity::Info) | None => "**Info.** ",
        };
        if !self.lines.iter().find(|it| !it.is_empty()).is_some_and(|line| line.starts_with(start)) {
            problems.push(format!("does not start with {start:?}"));
        }
        if severity != Some(Severity::Info) && !self.lines.iter().any(|line| line.starts_with("- Fix: ")) {
            problems.push("has no fix".to_owned());
        }
        problems
    }
}

/// Returns the sections of a page. Lines of code blocks are no headings.
fn sections(page: &str) -> Vec<Section<'_>> {
    let (mut sections, mut group, mut in_code) = (Vec::<Section<'_>>::new(), "", false);
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix("# ").filter(|_| !in_code) {
            group = heading;
        } else if let Some(heading) = line.strip_prefix("## ").filter(|_| !in_code) {
            let anchored = heading.strip_prefix("<a id=\"").and_then(|it| it.split_once("\"></a>"));
            let (anchor, heading) = anchored.unwrap_or(("", heading));
            sections.push(Section { heading, anchor, group, lines: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.lines.push(line);
        }
    }
    sections
}

/// Returns what is wrong with the reference page.
fn problems(page: &str) -> Vec<String> {
    let expected: Vec<String> = Code::ALL.iter().map(|code| format!("{code}: {}", code.title())).collect();
    let sections = sections(page);
    let headings: Vec<&str> = sections.iter().map(|section| section.heading).collect();
    let mut problems = Vec::new();
    for heading in &expected {
        let count = headings.iter().filter(|it| *it == heading).count();
        if count != 1 {
            problems.push(format!("{heading}: {count} sections"));
        }
    }
    let unknown = headings.iter().filter(|it| !expected.iter().any(|heading| heading == *it));
    problems.extend(unknown.map(|heading| format!("{heading}: no such code or title")));
    if !headings.is_sorted() {
        problems.push("the sections are not in order".to_owned());
    }
    for section in &sections {
        problems.extend(section.problems().iter().map(|problem| format!("{}: {problem}", section.heading)));
    }
    problems
}

fn reference() -> String {
    text_of("docs/src/codes.md")
}

/// Returns the words of a text that consist of `EP` and three digits.
fn mentioned(text: &str) -> BTreeSet<&str> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric());
    let is_code = |word: &&str| {
        word.strip_prefix("EP").is_some_and(|number| number.len() == 3 && number.bytes().all(|it| it.is_ascii_digit()))
    };
    words.filter(is_code).collect()
}

#[test]
fn every_code_has_a_complete_section() {
    let problems = problems(&reference());
    assert!(problems.is_empty(), "docs/src/codes.md:\n{}", problems.join("\n"));
}

#[test]
fn defects_of_the_page_are_found() {
    let page = reference();
    let heading = "## <a id=\"EP102\"></a>EP102: The Pod is not ready\n";
    for (text, replacement, problem) in [
        (heading, "", "EP102: The Pod is not ready: 0 sections"),
        (heading, "## <a id=\"EP102\"></a>EP102: Not ready\n", "EP102: Not ready: no such code or title"),
        (heading, "## EP101: The Pod has finished\n", "EP101: The Pod has finished: 2 sections"),
        ("EP707: ", "EP000: ", "the sections are not in order"),
        ("<a id=\"EP102\"></a>", "", "EP102: The Pod is not ready: has the anchor \"\""),
        (
            "# EP4xx: ",
            "# EP9xx: ",
            "EP401: Fewer ready endpoints than zones: no topology hints: in the group \"EP9xx: Hints\"",
        ),
        (
            "**Warning.** ",
            "**Info.** ",
            "EP001: The selector of the Service does not match the Pod: does not start with \"**Warning.** \"",
        ),
        ("- Fix: ", "", "EP001: The selector of the Service does not match the Pod: has no fix"),
    ] {
        assert!(page.contains(text), "{text}");
        // All occurrences are replaced: the defect may be in the first section that has the text, and in others.
        let found = problems(&page.replace(text, replacement));
        assert!(found.iter().any(|it| it == problem), "without {text:?}: {problem:?} is not in {found:#?}");
    }
    let in_code = "```text\n## EP102: The Pod is not ready\n```\n";
    assert!(sections(in_code).is_empty());
}

#[test]
fn codes_that_pages_mention_exist() {
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let mut count = 0;
    for page in book() {
        let text = text_of(&page.path);
        let found = mentioned(&text);
        count += found.len();
        let unknown: Vec<_> = found.difference(&known).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", page.name());
    }
    assert!(count > Code::ALL.len(), "{count}");
    assert_eq!(mentioned("EP102, EP-12 (`EP999`), EP1xx, EP1022, xEP102 and EP12"), ["EP102", "EP999"].into());
}
