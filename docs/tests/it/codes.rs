//! The reference page of the reason codes, and the codes that pages mention.

use std::collections::BTreeSet;

use kube_endpoint_model::Code;
use kube_endpoints_explain::Severity;

use crate::page::{book, root};

/// Starts of the paragraphs that each section has, in this order.
const PARTS: [&str; 3] = ["**Meaning:** ", "**How to check:** ", "**How to fix:** "];
/// A heading of level 2 and the text below it.
struct Section<'a> {
    heading: &'a str,
    /// The last line before the heading that is not empty.
    before: &'a str,
    /// The heading of level 1 above it.
    group: &'a str,
    lines: Vec<&'a str>,
}

impl Section<'_> {
    /// Returns what is wrong with the anchor, the group, the severity and the text of the section.
    fn problems(&self) -> Vec<String> {
        let code = self.heading.split(':').next().unwrap_or_default();
        let mut problems = Vec::new();
        if self.before != format!("<a id=\"{code}\"></a>") {
            problems.push("no anchor before the heading".to_owned());
        }
        if !code.get(..3).is_some_and(|hundred| self.group.starts_with(&format!("{hundred}xx: "))) {
            problems.push(format!("in the group {:?}", self.group));
        }
        let severities: Vec<&str> = self.lines.iter().filter_map(|line| line.strip_prefix("Severity: ")).collect();
        let severity = Code::ALL.iter().find(|it| it.as_str() == code).map(|it| match Severity::of(*it) {
            Severity::Error => "error.",
            Severity::Warning => "warning.",
            Severity::Info => "info.",
        });
        if severities != severity.as_slice() {
            problems.push(format!("has the severities {severities:?}"));
        }
        let with_text = |line: &str, part: &str| line.strip_prefix(part).is_some_and(|text| !text.is_empty());
        let part_of = |line: &&str| PARTS.into_iter().find(|part| with_text(line, part));
        let parts: Vec<&str> = self.lines.iter().filter_map(part_of).collect();
        if parts != PARTS {
            problems.push(format!("has the parts {parts:?}"));
        }
        if !self.lines.iter().any(|line| line.starts_with("$ kubectl ")) {
            problems.push("no command".to_owned());
        }
        problems
    }
}

/// Returns the sections of a page. Lines of code blocks are no headings.
fn sections(page: &str) -> Vec<Section<'_>> {
    let (mut sections, mut group, mut before, mut in_code) = (Vec::<Section<'_>>::new(), "", "", false);
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix("# ").filter(|_| !in_code) {
            group = heading;
        } else if let Some(heading) = line.strip_prefix("## ").filter(|_| !in_code) {
            sections.push(Section { heading, before, group, lines: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.lines.push(line);
        }
        if !line.is_empty() {
            before = line;
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
    std::fs::read_to_string(root().join("docs/src/codes.md")).expect("docs/src/codes.md")
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
    for (text, replacement, problem) in [
        ("## EP102: The Pod is not ready\n", "", "EP102: The Pod is not ready: 0 sections"),
        ("## EP102: The Pod is not ready\n", "## EP102: Not ready\n", "EP102: Not ready: no such code or title"),
        (
            "## EP102: The Pod is not ready\n",
            "## EP101: The Pod has finished\n",
            "EP101: The Pod has finished: 2 sections",
        ),
        ("## EP707: ", "## EP000: ", "the sections are not in order"),
        ("<a id=\"EP102\"></a>\n", "", "EP102: The Pod is not ready: no anchor before the heading"),
        (
            "# EP4xx: ",
            "# EP9xx: ",
            "EP401: Fewer ready endpoints than zones: no topology hints: in the group \"EP9xx: Hints\"",
        ),
        (
            "Severity: warning.\n",
            "",
            "EP001: The selector of the Service does not match the Pod: has the severities []",
        ),
        (
            "$ kubectl get nodes -L",
            "$ oc get nodes -L",
            "EP402: The cluster has no Nodes: no topology hints: no command",
        ),
        (
            "**How to fix:** ",
            "",
            "EP001: The selector of the Service does not match the Pod: \
             has the parts [\"**Meaning:** \", \"**How to check:** \"]",
        ),
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
        let text = std::fs::read_to_string(&page.path).expect("a page");
        let found = mentioned(&text);
        count += found.len();
        let unknown: Vec<_> = found.difference(&known).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", page.name());
    }
    assert!(count > Code::ALL.len(), "{count}");
    assert_eq!(mentioned("EP102, EP-12 (`EP999`), EP1xx, EP1022, xEP102 and EP12"), ["EP102", "EP999"].into());
}
