//! Report of the outcomes of all scenarios.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::{Failure, Outcome, Tally};

/// Maximum number of differences shown per scenario.
const SHOWN: usize = 8;
/// Maximum number of lines shown of one difference, such as an error with a list of objects.
const LINES: usize = 60;

/// Outcomes of all scenarios, by the key `file/scenario`.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Description of what was compared, in one line; empty for none.
    pub about: String,
    /// Numbers of writes of the controllers in recorded scenarios on embedded servers.
    pub writes: Tally,
    entries: BTreeMap<String, Entry>,
    second_looks: usize,
}

/// Outcome of one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Result.
    pub verdict: Verdict,
    /// Duration.
    pub time: Duration,
    /// Parts that were not checked, with the reasons.
    pub notes: Vec<String>,
}

/// Result of one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The controllers met all requirements.
    Passed,
    /// They did not, or the scenario could not be played.
    Failed(Failure),
    /// The scenario was not played, for this reason.
    Skipped(String),
}

impl Entry {
    /// Returns the entry of a scenario without notes.
    pub fn new(verdict: Verdict, time: Duration) -> Self {
        Self { verdict, time, notes: Vec::new() }
    }
}

impl From<Outcome> for Entry {
    fn from(Outcome { failure, time, notes, .. }: Outcome) -> Self {
        Self { notes, ..Self::new(failure.map_or(Verdict::Passed, Verdict::Failed), time) }
    }
}

impl Report {
    /// Adds the outcomes of one file.
    pub fn add(&mut self, file: &str, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            self.second_looks += outcome.second_looks;
            let key = format!("{file}/{}", outcome.scenario);
            self.insert(&key, outcome.into());
        }
    }

    /// Adds a file that could not be played.
    pub fn add_error(&mut self, file: &str, error: &anyhow::Error) {
        self.insert(file, Entry::new(Verdict::Failed(Failure::before_the_start(error)), Duration::ZERO));
    }

    /// Adds the outcome of one scenario.
    pub fn insert(&mut self, key: &str, entry: Entry) {
        self.entries.insert(key.to_owned(), entry);
    }

    /// Adds the outcomes of another report.
    pub fn merge(&mut self, other: Self) {
        let Self { about: _, writes, entries, second_looks } = other;
        self.writes.add(writes);
        self.entries.extend(entries);
        self.second_looks += second_looks;
    }

    /// Returns all outcomes, by the key of the scenario.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(key, entry)| (key.as_str(), entry))
    }

    /// Returns the number of scenarios that were played, plus the number of files that could not be played.
    pub fn played(&self) -> usize {
        self.count(|verdict| !matches!(verdict, Verdict::Skipped(_)))
    }

    /// Returns whether no scenario failed.
    pub fn is_good(&self) -> bool {
        self.count(|verdict| matches!(verdict, Verdict::Failed(_))) == 0
    }

    /// Returns the sum of the durations of all scenarios, which overlap.
    pub fn time(&self) -> Duration {
        self.entries.values().map(|entry| entry.time).sum()
    }

    fn count(&self, is: impl Fn(&Verdict) -> bool) -> usize {
        self.entries.values().filter(|entry| is(&entry.verdict)).count()
    }

    fn skipped(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut by_reason = BTreeMap::<&str, Vec<&str>>::new();
        for (key, entry) in self.entries() {
            if let Verdict::Skipped(reason) = &entry.verdict {
                by_reason.entry(reason).or_default().push(key);
            }
        }
        by_reason
    }
}

/// Formats all failures, skipped scenarios by reason, and the numbers of scenarios.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, entry) in self.entries() {
            if let Verdict::Failed(failure) = &entry.verdict {
                writeln!(f, "FAILED {key}{failure}")?;
            }
        }
        for (reason, keys) in self.skipped() {
            writeln!(f, "SKIPPED {}, {reason}:", scenarios(keys.len()))?;
            let shown: Vec<_> = keys.iter().take(SHOWN).copied().collect();
            let more = keys.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            writeln!(f, "    {}{more}", shown.join(", "))?;
        }
        for (key, entry) in self.entries() {
            for note in &entry.notes {
                writeln!(f, "UNCHECKED {key}: {note}")?;
            }
        }
        if !self.about.is_empty() {
            writeln!(f, "{}", self.about)?;
        }
        if self.second_looks > 0 {
            writeln!(f, "{} steps matched only after settling again", self.second_looks)?;
        }
        let failed = self.count(|verdict| matches!(verdict, Verdict::Failed(_)));
        let skipped = self.count(|verdict| matches!(verdict, Verdict::Skipped(_)));
        write!(f, "{} passed, {failed} failed", self.played() - failed)?;
        if skipped > 0 {
            write!(f, ", {skipped} skipped")?;
        }
        Ok(())
    }
}

fn scenarios(count: usize) -> String {
    if count == 1 { "1 scenario".to_owned() } else { format!("{count} scenarios") }
}

impl Failure {
    /// Returns the failure of a scenario or file before its first step.
    pub fn before_the_start(error: &anyhow::Error) -> Self {
        Self { step: 0, reasons: vec![format!("{error:#}")] }
    }
}

/// Formats the number of the step, if there is one, and the first reasons, each in lines of its own.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, reasons } = self;
        if *step > 0 {
            write!(f, ", step {step}")?;
        }
        write!(f, ":")?;
        for reason in reasons.iter().take(SHOWN) {
            for line in reason.lines().take(LINES) {
                write!(f, "\n    {line}")?;
            }
            if reason.lines().count() > LINES {
                write!(f, "\n    (and {} more lines)", reason.lines().count() - LINES)?;
            }
        }
        if reasons.len() > SHOWN {
            write!(f, "\n    and {} more", reasons.len() - SHOWN)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(scenario: &str, reasons: &[&str]) -> Outcome {
        let reasons: Vec<_> = reasons.iter().map(|&reason| reason.to_owned()).collect();
        let failure = (!reasons.is_empty()).then_some(Failure { step: 2, reasons });
        Outcome {
            scenario: scenario.to_owned(),
            failure,
            second_looks: 0,
            notes: Vec::new(),
            time: Duration::from_secs(1),
        }
    }

    #[test]
    fn judges() {
        let mut report = Report::default();
        report.add("core", vec![outcome("a", &[])]);
        assert!(report.is_good());
        assert_eq!(report.to_string(), "1 passed, 0 failed");

        report.add("core", vec![outcome("b", &["y", "z"])]);
        report.add_error("random", &anyhow::anyhow!("no server").context("cannot start"));
        for key in ["core/c", "core/d"] {
            report.insert(key, Entry::new(Verdict::Skipped("no hints".to_owned()), Duration::ZERO));
        }
        let notes = vec!["writes are not counted".to_owned()];
        report.insert("hostile/e", Entry { notes, ..Entry::new(Verdict::Passed, Duration::ZERO) });
        report.about = "profile p".to_owned();
        assert!(!report.is_good());
        assert_eq!(report.played(), 4);
        let lines: Vec<_> = report.to_string().lines().map(ToOwned::to_owned).collect();
        let expect = [
            "FAILED core/b, step 2:",
            "    y",
            "    z",
            "FAILED random:",
            "    cannot start: no server",
            "SKIPPED 2 scenarios, no hints:",
            "    core/c, core/d",
            "UNCHECKED hostile/e: writes are not counted",
            "profile p",
            "2 passed, 2 failed, 2 skipped",
        ];
        assert_eq!(lines, expect);
    }

    #[test]
    fn shows_only_the_first_differences() {
        let mut report = Report::default();
        report.add("core", vec![outcome("a", &["x"; SHOWN + 2])]);
        assert!(report.to_string().contains("\n    x\n    and 2 more\n"), "{report}");
    }

    #[test]
    fn shows_only_the_first_lines_of_a_difference() {
        let mut report = Report::default();
        report.add("core", vec![outcome("a", &["x\n".repeat(LINES + 3).as_str()])]);
        assert!(report.to_string().contains("\n    x\n    (and 3 more lines)\n"), "{report}");
    }
}
