//! Summary of all outcomes.

use std::{collections::BTreeMap, fmt};

use crate::{Failure, Outcome};

/// Maximum number of differences shown per scenario.
const SHOWN: usize = 8;

/// Summary of the outcomes of all files.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    passed: usize,
    second_looks: usize,
    failed: BTreeMap<String, Failure>,
}

impl Verdict {
    /// Adds the outcomes of one file.
    pub fn add(&mut self, file: &str, outcomes: Vec<Outcome>) {
        for Outcome { scenario, failure, second_looks } in outcomes {
            self.second_looks += second_looks;
            match failure {
                None => self.passed += 1,
                Some(failure) => drop(self.failed.insert(format!("{file}/{scenario}"), failure)),
            }
        }
    }

    /// Adds a file that could not be played.
    pub fn add_error(&mut self, file: &str, error: &anyhow::Error) {
        let failure = Failure { step: 0, reasons: vec![format!("{error:#}")] };
        self.failed.insert(file.to_owned(), failure);
    }

    /// Returns the number of scenarios that were played, plus the number of files that could not be played.
    pub fn played(&self) -> usize {
        let Self { passed, second_looks: _, failed } = self;
        passed + failed.len()
    }

    /// Returns whether all scenarios matched the recordings.
    pub fn is_good(&self) -> bool {
        self.failed.is_empty()
    }
}

/// Formats all failures, and the numbers of passed and failed scenarios.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, second_looks, failed } = self;
        for (key, Failure { step, reasons }) in failed {
            writeln!(f, "FAILED {key}, step {step}:")?;
            for reason in reasons.iter().take(SHOWN) {
                writeln!(f, "    {reason}")?;
            }
            if reasons.len() > SHOWN {
                writeln!(f, "    and {} more", reasons.len() - SHOWN)?;
            }
        }
        write!(f, "{passed} passed, {} failed", failed.len())?;
        if *second_looks > 0 {
            write!(f, "; {second_looks} steps matched only after settling again")?;
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
        Outcome { scenario: scenario.to_owned(), failure, second_looks: 0 }
    }

    #[test]
    fn judges() {
        let mut verdict = Verdict::default();
        verdict.add("core", vec![outcome("a", &[])]);
        assert!(verdict.is_good());
        assert_eq!(verdict.to_string(), "1 passed, 0 failed");

        verdict.add("core", vec![outcome("b", &["y", "z"])]);
        verdict.add_error("random", &anyhow::anyhow!("no server").context("cannot start"));
        assert!(!verdict.is_good());
        assert_eq!(verdict.played(), 3);
        let lines: Vec<_> = verdict.to_string().lines().map(ToOwned::to_owned).collect();
        let expect = [
            "FAILED core/b, step 2:",
            "    y",
            "    z",
            "FAILED random, step 0:",
            "    cannot start: no server",
            "1 passed, 2 failed",
        ];
        assert_eq!(lines, expect);
    }

    #[test]
    fn shows_only_the_first_differences() {
        let mut verdict = Verdict::default();
        verdict.add("core", vec![outcome("a", &["x"; SHOWN + 2])]);
        assert!(verdict.to_string().contains("\n    x\n    and 2 more\n"), "{verdict}");
    }
}
