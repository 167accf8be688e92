//! Tests of the contract in `docs/src/contract`: its rules are unique, in order and verified, and all ids that the repository
//! cites are defined.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;
use std::{fmt, fs};

use kube_endpoints_conformance::{Hostile, Recording};
use kube_endpoints_testing::repository::{files, root, text_of};
use rstest::rstest;

static CONTRACT: LazyLock<Contract> = LazyLock::new(Contract::read);

/// Directory of the pages, relative to the root of the repository.
const PAGES: &str = "docs/src/contract/";

/// Prefixes of other ids, such as `UTF-8`.
const FOREIGN: [&str; 4] = ["DNS", "KEP", "SHA", "UTF"];

/// Markup between the ends of a range: comment markers, and the bracket of a link.
const MARKUP: [&str; 4] = ["//", "///", "//!", "["];

/// The rules, and the citations of their ids in Rust and Markdown files.
struct Contract {
    rules: Vec<Rule>,
    citations: Vec<Citation>,
}

/// A rule: a heading of level 2 and the text below it.
struct Rule {
    id: Id,
    page: String,
    line: usize,
    /// Entries of `Verified by`.
    proofs: Vec<String>,
}

/// An id in a text.
struct Citation {
    id: Id,
    file: String,
    line: usize,
}

/// Id of a rule, such as `RC-14` or `EP-H1`. The order is that of the rules of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Id {
    /// What precedes the number: a prefix, a dash and at most one letter.
    series: String,
    number: u32,
}

impl Contract {
    fn read() -> Contract {
        let files = files(&["crates", "testing", "tools", "docs/src"], &["rs", "md"]);
        let mut contract = Contract { rules: Vec::new(), citations: Vec::new() };
        for file in ["ARCHITECTURE.md".to_owned()].into_iter().chain(files) {
            let text = text_of(&file);
            if file.starts_with(PAGES) {
                contract.rules.extend(rules(&file, &text));
            }
            contract.citations.extend(citations(&file, &text));
        }
        contract.citations.retain(|citation| !FOREIGN.contains(&citation.id.prefix()));
        contract
    }
}

impl Id {
    fn parse(text: &str) -> Option<Id> {
        let (series, number) = text.split_at(text.find(|it: char| it.is_ascii_digit())?);
        let (prefix, letter) = series.split_once('-')?;
        let is_upper = |part: &str| part.chars().all(|it| it.is_ascii_uppercase());
        let is_series = !prefix.is_empty() && is_upper(prefix) && letter.len() <= 1 && is_upper(letter);
        is_series.then_some(Id { series: series.to_owned(), number: number.parse().ok()? })
    }

    fn prefix(&self) -> &str {
        self.series.split('-').next().unwrap_or_default()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.series, self.number)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.page, self.line, self.id)
    }
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.id)
    }
}

/// Returns the reason why the test or scenario of an entry of `Verified by` does not exist; `None` if it does.
/// `recordings` are pairs of file and scenario.
fn problem(entry: &str, recordings: &BTreeSet<(String, String)>) -> Option<String> {
    match entry.split('`').collect::<Vec<_>>()[..] {
        ["", path, ", ", function, ""] => match fs::read_to_string(root().join(path)) {
            Ok(text) => (!defines(&text, function)).then(|| format!("{path} has no fn {function}")),
            Err(error) => Some(format!("{path}: {error}")),
        },
        ["recording ", file, " (", scenario, ")"] => {
            let exists = recordings.contains(&(file.to_owned(), scenario.to_owned()));
            (!exists).then(|| format!("recording {file} has no scenario {scenario}"))
        }
        ["hostile scenario ", scenario, ""] => {
            let exists = Hostile::all().iter().any(|it| it.name() == scenario);
            (!exists).then(|| format!("there is no hostile scenario {scenario}"))
        }
        _ => Some(format!("neither a test nor a recording nor a hostile scenario: {entry}")),
    }
}

fn rules(page: &str, text: &str) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        if let Some(heading) = content.strip_prefix("## ") {
            let id = Id::parse(heading).unwrap_or_else(|| panic!("{page}:{line}: {heading} is not an id"));
            rules.push(Rule { id, page: page.to_owned(), line, proofs: Vec::new() });
        } else if let (Some(entries), Some(rule)) = (content.strip_prefix("- Verified by: "), rules.last_mut()) {
            rule.proofs.extend(entries.split("; ").filter(|entry| *entry != "none").map(str::to_owned));
        }
    }
    rules
}

fn citations(file: &str, text: &str) -> Vec<Citation> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    ids(text).into_iter().map(|(at, id)| Citation { id, file: file.to_owned(), line: line(at) }).collect()
}

/// Returns the ids in a text with their positions. Ids within a range have the position of its start.
fn ids(text: &str) -> Vec<(usize, Id)> {
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    let word = |dash: usize| {
        let start = text[..dash].trim_end_matches(is_word).len();
        start..text.len() - text[dash..].trim_start_matches(is_word).len()
    };
    let words = text.match_indices('-').map(|(dash, _)| word(dash));
    let written: Vec<(Range<usize>, Id)> =
        words.filter_map(|word| Some((word.clone(), Id::parse(&text[word])?))).collect();
    let mut ids: Vec<(usize, Id)> = written.iter().map(|(place, id)| (place.start, id.clone())).collect();
    for pair in written.windows(2) {
        let [(start, first), (end, last)] = pair else { continue };
        if first.series == last.series && is_range(&text[start.end..end.start]) {
            ids.extend((first.number + 1..last.number).map(|number| (start.start, Id { number, ..first.clone() })));
        }
    }
    ids
}

/// Returns whether the text between two ids makes them the ends of a range: `to`, apart from markup.
fn is_range(between: &str) -> bool {
    let target = between.strip_prefix("](").and_then(|rest| rest.split_once(')'));
    let words = target.map_or(between, |(_, rest)| rest).split_whitespace();
    words.filter(|word| !MARKUP.contains(word)).eq(["to"])
}

/// Returns whether a Rust source contains a function of this name.
fn defines(source: &str, function: &str) -> bool {
    let mut names = source.split("fn ").skip(1).filter_map(|rest| rest.strip_prefix(function));
    names.any(|rest| rest.starts_with(['(', '<']))
}

#[track_caller]
fn assert_none(problem: &str, found: impl Iterator<Item = String>) {
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{problem}:\n  {}", found.join("\n  "));
}

#[test]
fn cited_ids_are_defined() {
    let defined: BTreeSet<&Id> = CONTRACT.rules.iter().map(|rule| &rule.id).collect();
    let undefined = CONTRACT.citations.iter().filter(|citation| !defined.contains(&citation.id));
    assert_none("cited, and defined on no page of docs/src/contract", undefined.map(ToString::to_string));
}

#[test]
fn ids_are_defined_once() {
    let mut by_id: BTreeMap<&Id, Vec<String>> = BTreeMap::new();
    for rule in &CONTRACT.rules {
        by_id.entry(&rule.id).or_default().push(rule.to_string());
    }
    assert_none("defined more than once", by_id.into_values().filter(|rules| rules.len() > 1).flatten());
}

#[test]
fn rules_are_verified() {
    let unverified = CONTRACT.rules.iter().filter(|rule| rule.proofs.is_empty());
    assert_none("no test or recording after `Verified by:`", unverified.map(ToString::to_string));
}

#[test]
fn tests_and_recordings_exist() {
    let recordings = Recording::builtin().expect("all recordings parse");
    let scenarios = |(file, recording): (String, Recording)| {
        recording.scenarios.into_iter().map(move |scenario| (file.clone(), scenario.name))
    };
    let recordings: BTreeSet<(String, String)> = recordings.into_iter().flat_map(scenarios).collect();
    let proofs = CONTRACT.rules.iter().flat_map(|rule| rule.proofs.iter().map(move |proof| (rule, proof)));
    let missing = proofs.filter_map(|(rule, proof)| Some(format!("{rule}: {}", problem(proof, &recordings)?)));
    assert_none("`Verified by:` refers to a missing test or recording", missing);
}

#[test]
fn ids_of_a_page_ascend() {
    let pairs = CONTRACT.rules.windows(2).filter(|pair| pair[0].page == pair[1].page && pair[0].id > pair[1].id);
    assert_none("not in ascending order", pairs.map(|pair| format!("{} follows {}", pair[1], pair[0].id)));
}

#[test]
fn the_index_lists_all_prefixes() {
    let index = text_of("docs/src/contract.md");
    let prefixes: BTreeSet<&str> = CONTRACT.rules.iter().map(|rule| rule.id.prefix()).collect();
    assert!(prefixes.contains("RC"), "{prefixes:?}");
    let missing = prefixes.into_iter().filter(|prefix| !index.contains(&format!("`{prefix}`")));
    assert_none("not in docs/src/contract.md", missing.map(str::to_owned));
}

// The ids below are defined, since this file is one of those that are searched for citations.
#[rstest]
#[case::one("a Service (RC-14)", &["RC-14"])]
#[case::list("RC-5, RC-6 and `RC-7`.", &["RC-5", "RC-6", "RC-7"])]
#[case::range("(ES-1 to ES-4)", &["ES-1", "ES-2", "ES-3", "ES-4"])]
#[case::two_ranges("EP-7 to EP-9, EP-24 to EP-26", &["EP-7", "EP-8", "EP-9", "EP-24", "EP-25", "EP-26"])]
#[case::neighbours("PP-1 to PP-2", &["PP-1", "PP-2"])]
#[case::letter("ES-H3 to ES-H5, TR-E1", &["ES-H3", "ES-H4", "ES-H5", "TR-E1"])]
#[case::next_line("ES-H3 to\n    /// ES-H5", &["ES-H3", "ES-H4", "ES-H5"])]
#[case::line_before("TD-1\n//! to TD-3", &["TD-1", "TD-2", "TD-3"])]
#[case::links("[TP-5](topology.md#tp-5) to [TP-7](#tp-7)", &["TP-5", "TP-6", "TP-7"])]
#[case::descending("RC-7 to RC-5", &["RC-5", "RC-7"])]
#[case::other_prefix("EC-1 to ES-3", &["EC-1", "ES-3"])]
#[case::other_letter("ES-1 to ES-H3", &["ES-1", "ES-H3"])]
#[case::other_word("RC-5 and RC-7", &["RC-5", "RC-7"])]
#[case::no_ids("EC-, -1, ec-1, xRC-1, a-RC-1, RC-1x, RC-1-x, RC-h1, RC_1", &[])]
fn ids_of_texts(#[case] text: &str, #[case] expected: &[&str]) {
    let mut found: Vec<Id> = ids(text).into_iter().map(|(_, id)| id).collect();
    found.sort();
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

#[test]
fn a_page_is_read() {
    let page = "# Page\n\n## RC-5\n\nText.\n\n- Verified by: `a.rs`, `b`; recording `core` (`c`); hostile scenario `d/e`\n\n\
                ## RC-6\n\n- Verified by: none\n\n## RC-7\n\n- Verified by: a test\n";
    let rules = rules("page.md", page);
    let shown: Vec<String> = rules.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["page.md:3: RC-5", "page.md:9: RC-6", "page.md:13: RC-7"]);
    assert_eq!(rules[0].proofs, ["`a.rs`, `b`", "recording `core` (`c`)", "hostile scenario `d/e`"]);
    assert!(rules[1].proofs.is_empty(), "{:?}", rules[1].proofs);
    for missing in ["`a.rs`, `b`", "recording `core` (`c`)", "hostile scenario `d/e`", "a test"] {
        assert!(problem(missing, &BTreeSet::new()).is_some(), "{missing}");
    }
}
