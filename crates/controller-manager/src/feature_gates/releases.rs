//! The feature gates of kube-controller-manager from Kubernetes 1.28 to 1.38, and their state in each release.
//!
//! None of them has an effect on the three controllers. The list exists so that command lines of
//! kube-controller-manager are accepted and misspelt names are rejected.
//!
//! `gates.txt` has a line for each gate: a letter for each release, and the name. The states are those of the sources of
//! patch releases of 1.28 to 1.36, of the sources of 1.37 shortly after its code freeze, and of the changelogs up to
//! v1.38.0-alpha.2. `AllAlpha` and `AllBeta` are not in the table.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use super::gate::{Gate, Stage};

const TABLE: &str = include_str!("gates.txt");

/// Minor versions of Kubernetes 1 in the table.
pub(crate) const MINORS: RangeInclusive<u64> = 28..=38;

/// A gate in all releases.
#[derive(Clone, Copy, Debug)]
pub(super) struct History {
    pub(super) name: &'static str,
    /// A letter for each release, in order.
    states: &'static str,
}

impl History {
    /// Returns all gates, sorted by name.
    pub(super) fn all() -> impl Iterator<Item = History> {
        TABLE.lines().filter_map(|line| line.split_once(' ')).map(|(states, name)| History { name, states })
    }

    pub(super) fn find(name: &str) -> Option<History> {
        History::all().find(|it| it.name == name)
    }

    /// Returns the state of the gate in Kubernetes 1.`minor`; `None` if that release does not have the gate.
    pub(super) fn gate(self, minor: u64) -> Option<Gate> {
        let index = usize::try_from(minor.checked_sub(*MINORS.start())?).ok()?;
        let (stage, default, locked) = state(*self.states.as_bytes().get(index)?)?;
        Some(Gate { name: self.name, stage, default, locked })
    }

    /// Returns the minor versions of the releases in which the gate can be set to `value`.
    pub(super) fn releases_allowing(self, value: bool) -> Vec<u64> {
        MINORS.filter(|minor| self.gate(*minor).is_some_and(|gate| gate.allows(value))).collect()
    }
}

/// Returns stage, default and lock for a letter of the table. Upper case is on by default.
fn state(letter: u8) -> Option<(Stage, bool, bool)> {
    let on = letter.is_ascii_uppercase();
    let (stage, locked) = match letter.to_ascii_lowercase() {
        b'a' => (Stage::Alpha, false),
        b'b' => (Stage::Beta, false),
        b's' => (Stage::Stable, false),
        b'l' => (Stage::Stable, true),
        b'd' => (Stage::Deprecated, false),
        b'x' => (Stage::Deprecated, true),
        _ => return None,
    };
    Some((stage, on, locked))
}

/// Formats minor versions in ascending order: `1.28 to 1.31, 1.33`.
pub(super) fn ranges(minors: &[u64]) -> String {
    let mut text = String::new();
    for range in minors.chunk_by(|before, after| before + 1 == *after) {
        let separator = if text.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = match range {
            [first, .., last] => write!(text, "{separator}1.{first} to 1.{last}"),
            [one] => write!(text, "{separator}1.{one}"),
            [] => Ok(()),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn every_line_of_the_table_is_valid() {
        let names: Vec<&str> = History::all().map(|it| it.name).collect();
        assert_eq!(names.len(), TABLE.lines().count());
        assert!(names.is_sorted_by(|a, b| a < b), "sorted and unique");
        for history in History::all() {
            let letters = history.states.bytes();
            assert_eq!(letters.len() as u64, MINORS.end() - MINORS.start() + 1, "{history:?}");
            assert!(letters.clone().all(|letter| letter == b'.' || state(letter).is_some()), "{history:?}");
            assert!(MINORS.clone().any(|minor| history.gate(minor).is_some()), "{history:?}");
            assert!(history.name.bytes().all(|it| it.is_ascii_alphanumeric()), "{history:?}");
        }
    }

    /// A gate that a release has removed does not come back.
    #[test]
    fn gates_have_no_gaps() {
        let gaps: Vec<History> = History::all().filter(|it| it.states.trim_matches('.').contains('.')).collect();
        let names: Vec<&str> = gaps.iter().map(|it| it.name).collect();
        assert_eq!(names, Vec::<&str>::new());
    }

    /// Counted in the sources of each release.
    #[rstest]
    #[case(28, 153)]
    #[case(32, 179)]
    #[case(36, 240)]
    fn releases_have_so_many_gates(#[case] minor: u64, #[case] count: usize) {
        assert_eq!(History::all().filter(|it| it.gate(minor).is_some()).count(), count);
    }

    #[rstest]
    #[case(&[], "")]
    #[case(&[30], "1.30")]
    #[case(&[28, 29, 30, 33, 37, 38], "1.28 to 1.30, 1.33, 1.37 to 1.38")]
    fn releases_are_formatted_as_ranges(#[case] minors: &[u64], #[case] expect: &str) {
        assert_eq!(ranges(minors), expect);
    }
}
