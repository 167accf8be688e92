//! What all outcomes together mean, given the list of what need not work yet. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use anyhow::{Context as _, Result, ensure};

use crate::{Failure, Outcome};

/// Differences of one scenario that are shown.
const SHOWN: usize = 8;

/// The scenarios that do not pass yet, by `file/scenario`, with the step of the project that will finish them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotYet(pub BTreeMap<String, u8>);

impl NotYet {
    /// Parses `not-yet.txt`: a line for each scenario, its key and the step; `#` begins a comment.
    pub fn parse(text: &str) -> Result<Self> {
        let mut listed = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = || format!("line {number}: {line:?} is not `file/scenario step`");
            let (key, step) = line.split_once(char::is_whitespace).with_context(wrong)?;
            ensure!(key.contains('/'), wrong());
            let step = step.trim().parse().with_context(wrong)?;
            ensure!(listed.insert(key.to_owned(), step).is_none(), "line {number}: {key} is listed twice");
        }
        Ok(Self(listed))
    }
}

/// The outcomes of all files that were played.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    passed: usize,
    second_looks: usize,
    broken: BTreeMap<String, Failure>,
    excused: BTreeMap<String, u8>,
    listed_but_pass: BTreeSet<String>,
}

impl Verdict {
    /// Judges the outcomes of one file.
    pub fn add(&mut self, file: &str, outcomes: Vec<Outcome>, not_yet: &NotYet) {
        for Outcome { scenario, failure, second_looks } in outcomes {
            let key = format!("{file}/{scenario}");
            self.second_looks += second_looks;
            match (failure, not_yet.0.get(&key)) {
                (None, None) => self.passed += 1,
                (None, Some(_)) => drop(self.listed_but_pass.insert(key)),
                (Some(_), Some(step)) => drop(self.excused.insert(key, *step)),
                (Some(failure), None) => drop(self.broken.insert(key, failure)),
            }
        }
    }

    /// A file could not be played at all.
    pub fn add_error(&mut self, file: &str, error: &anyhow::Error) {
        let failure = Failure { step: 0, reasons: vec![format!("{error:#}")] };
        self.broken.insert(file.to_owned(), failure);
    }

    /// How many scenarios, and files that could not be played, were judged.
    pub fn played(&self) -> usize {
        let Self { passed, second_looks: _, broken, excused, listed_but_pass } = self;
        passed + broken.len() + excused.len() + listed_but_pass.len()
    }

    /// Whether all is as the list says.
    pub fn is_good(&self) -> bool {
        self.broken.is_empty() && self.listed_but_pass.is_empty()
    }
}

/// The summary: everything that needs doing, and counts of the rest.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, second_looks, broken, excused, listed_but_pass } = self;
        for (key, Failure { step, reasons }) in broken {
            writeln!(f, "FAILED {key}, step {step}:")?;
            for reason in reasons.iter().take(SHOWN) {
                writeln!(f, "    {reason}")?;
            }
            if reasons.len() > SHOWN {
                writeln!(f, "    and {} more", reasons.len() - SHOWN)?;
            }
        }
        for key in listed_but_pass {
            writeln!(f, "PASSES {key}: take it off not-yet.txt")?;
        }
        let (broken, surprising) = (broken.len(), listed_but_pass.len());
        write!(f, "{passed} passed, {broken} failed, {surprising} passed although listed in not-yet.txt, ")?;
        write!(f, "{} listed there failed as expected", excused.len())?;
        if *second_looks > 0 {
            write!(f, "; {second_looks} steps were as expected only after waiting again")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn outcome(scenario: &str, reasons: &[&str]) -> Outcome {
        let reasons: Vec<_> = reasons.iter().map(|&reason| reason.to_owned()).collect();
        let failure = (!reasons.is_empty()).then_some(Failure { step: 2, reasons });
        Outcome { scenario: scenario.to_owned(), failure, second_looks: 0 }
    }

    #[rstest]
    #[case::none("\n# nothing\n", &[])]
    #[case::two("core/mirror 6\nrandom/random-1   5 # packing\n", &[("core/mirror", 6), ("random/random-1", 5)])]
    fn lists(#[case] text: &str, #[case] expect: &[(&str, u8)]) {
        let expect = expect.iter().map(|(key, step)| ((*key).to_owned(), *step)).collect();
        assert_eq!(NotYet::parse(text).unwrap(), NotYet(expect));
    }

    #[rstest]
    #[case("core/mirror", "line 1: \"core/mirror\" is not `file/scenario step`")]
    #[case("\nmirror 6", "line 2: \"mirror 6\" is not `file/scenario step`")]
    #[case("core/mirror soon", "line 1: \"core/mirror soon\" is not `file/scenario step`")]
    #[case("a/b 5\na/b 6", "line 2: a/b is listed twice")]
    fn refuses(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(NotYet::parse(text).unwrap_err().to_string(), expect);
    }

    #[test]
    fn judges() {
        let not_yet = NotYet::parse("core/c 5\ncore/d 6\ncore/not-played 6").unwrap();
        let mut verdict = Verdict::default();
        verdict.add("core", vec![outcome("a", &[]), outcome("c", &["x"])], &not_yet);
        assert!(verdict.is_good());
        assert_eq!(
            verdict.to_string(),
            "1 passed, 0 failed, 0 passed although listed in not-yet.txt, 1 listed there failed as expected"
        );

        verdict.add("core", vec![outcome("b", &["y", "z"]), outcome("d", &[])], &not_yet);
        verdict.add_error("random", &anyhow::anyhow!("no server").context("cannot start"));
        assert!(!verdict.is_good());
        assert_eq!(verdict.played(), 5);
        let lines: Vec<_> = verdict.to_string().lines().map(ToOwned::to_owned).collect();
        let expect = [
            "FAILED core/b, step 2:",
            "    y",
            "    z",
            "FAILED random, step 0:",
            "    cannot start: no server",
            "PASSES core/d: take it off not-yet.txt",
            "1 passed, 2 failed, 1 passed although listed in not-yet.txt, 1 listed there failed as expected",
        ];
        assert_eq!(lines, expect);
    }

    #[test]
    fn shows_only_the_first_differences() {
        let mut verdict = Verdict::default();
        verdict.add("core", vec![outcome("a", &["x"; SHOWN + 2])], &NotYet::default());
        assert!(verdict.to_string().contains("\n    x\n    and 2 more\n"), "{verdict}");
    }
}
