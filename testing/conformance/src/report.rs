//! Report of the outcomes of all scenarios.

use std::{collections::BTreeMap, fmt, time::Duration};

/// Maximum number of differences shown per scenario.
const SHOWN: usize = 8;
/// Maximum number of lines shown of one difference, such as an error with a list of objects.
const LINES: usize = 60;

/// Outcomes of scenarios.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Description of what was compared, in one line; empty for none.
    pub about: String,
    /// Outcomes by the key `file/scenario`, or by the name of a file that could not be played.
    pub entries: BTreeMap<String, Entry>,
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

/// Failure of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Number of the failed step, starting at 1; 0 for a failure before the first step, and of a hostile scenario.
    pub step: usize,
    /// The error, or the differences from the expected snapshot.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// Returns the verdict on a scenario or file that failed with this error, outside of any step.
    pub(crate) fn failed(error: &anyhow::Error) -> Self {
        Self::Failed(Failure { step: 0, reasons: vec![format!("{error:#}")] })
    }
}

impl Report {
    /// Returns the number of scenarios that were played, plus the number of files that could not be played.
    pub fn played(&self) -> usize {
        self.count(|verdict| !matches!(verdict, Verdict::Skipped(_)))
    }

    /// Returns whether no scenario failed.
    pub fn is_good(&self) -> bool {
        self.count(|verdict| matches!(verdict, Verdict::Failed(_))) == 0
    }

    fn count(&self, is: impl Fn(&Verdict) -> bool) -> usize {
        self.entries.values().filter(|entry| is(&entry.verdict)).count()
    }
}

/// Formats all failures, skipped scenarios by reason, and the numbers of scenarios.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut skipped = BTreeMap::<_, Vec<&str>>::new();
        for (key, entry) in &self.entries {
            match &entry.verdict {
                Verdict::Passed => {}
                Verdict::Failed(failure) => writeln!(f, "FAILED {key}{failure}")?,
                Verdict::Skipped(reason) => skipped.entry(reason).or_default().push(key),
            }
        }
        for (reason, mut keys) in skipped {
            let count = keys.len();
            keys.truncate(SHOWN);
            let more = if count > SHOWN { format!(", and {} more", count - SHOWN) } else { String::new() };
            let scenarios = if count == 1 { "scenario" } else { "scenarios" };
            writeln!(f, "SKIPPED {count} {scenarios}, {reason}:\n    {}{more}", keys.join(", "))?;
        }
        for (key, entry) in &self.entries {
            for note in &entry.notes {
                writeln!(f, "UNCHECKED {key}: {note}")?;
            }
        }
        if !self.about.is_empty() {
            writeln!(f, "{}", self.about)?;
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

    fn report(entries: &[(&str, Verdict)]) -> Report {
        let entry = |verdict: &Verdict| Entry { verdict: verdict.clone(), time: Duration::ZERO, notes: Vec::new() };
        let entries = entries.iter().map(|(key, verdict)| ((*key).to_owned(), entry(verdict)));
        Report { entries: entries.collect(), ..Report::default() }
    }

    fn failed(reasons: &[&str]) -> Verdict {
        Verdict::Failed(Failure { step: 2, reasons: reasons.iter().map(|&reason| reason.to_owned()).collect() })
    }

    #[test]
    fn judges() {
        let passed = report(&[("core/a", Verdict::Passed)]);
        assert!(passed.is_good());
        assert_eq!(passed.to_string(), "1 passed, 0 failed");

        let skipped = || Verdict::Skipped("no hints".to_owned());
        let mut report = report(&[
            ("core/a", Verdict::Passed),
            ("core/b", failed(&["y", "z"])),
            ("core/c", skipped()),
            ("core/d", skipped()),
            ("hostile/e", Verdict::Passed),
            ("random", Verdict::failed(&anyhow::anyhow!("no server").context("cannot start"))),
        ]);
        let entry = report.entries.get_mut("hostile/e").unwrap();
        entry.notes.push("writes are not counted".to_owned());
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
    fn shows_only_the_first_differences_and_lines() {
        let text = report(&[("a", failed(&["x"; SHOWN + 2])), ("b", failed(&[&"x\n".repeat(LINES + 3)]))]).to_string();
        assert!(text.contains("\n    x\n    and 2 more\n"), "{text}");
        assert!(text.contains("\n    x\n    (and 3 more lines)\n"), "{text}");
    }
}
