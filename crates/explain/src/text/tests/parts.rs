//! Numbers, times, escapes and marks.

use jiff::Timestamp;
use rstest::rstest;

use super::timestamp;
use crate::counts::{count, thousands};
use crate::text::TextStyle;
use crate::text::output::{Mark, Output};

#[rstest]
#[case(0, "0")]
#[case(999, "999")]
#[case(1_000, "1,000")]
#[case(12_345, "12,345")]
#[case(1_234_567, "1,234,567")]
fn thousands_are_separated(#[case] number: usize, #[case] text: &str) {
    assert_eq!(thousands(number), text);
}

#[rstest]
#[case(0, "0 slices")]
#[case(1, "1 slice")]
#[case(1_001, "1,001 slices")]
fn nouns_follow_their_number(#[case] number: usize, #[case] text: &str) {
    assert_eq!(count(number, "slice"), text);
}

#[rstest]
#[case::same_day(Some("2026-07-01T00:00:00Z"), "14:02:07")]
#[case::end_of_the_day(Some("2026-07-01T23:59:59Z"), "14:02:07")]
#[case::next_day(Some("2026-07-02T00:00:00Z"), "2026-07-01 14:02:07Z")]
#[case::same_day_of_another_year(Some("2027-07-01T14:02:07Z"), "2026-07-01 14:02:07Z")]
#[case::unknown(None, "2026-07-01 14:02:07Z")]
fn time_has_the_date_on_another_day(#[case] now: Option<&str>, #[case] text: &str) {
    let now: Option<Timestamp> = now.map(timestamp);
    assert_eq!(crate::time::shown(timestamp("2026-07-01T14:02:07Z"), now), text);
}

#[test]
fn control_characters_are_escaped() {
    let mut output = Output::new(TextStyle::default());
    output.text("a\u{1b}[31m\nb\tc\u{202e}\u{2066}").end_line();
    assert_eq!(output.finish(), "a\\u{1b}[31m\\nb\\tc\\u{202e}\\u{2066}\n");
}

#[test]
fn padding_does_not_count_colors() {
    let mut output = Output::new(TextStyle { color: true, ..TextStyle::default() });
    output.mark(Mark::Good).pad_to(4).text("x").end_line();
    output.mark(Mark::Bad).pad_to(1).text("y").end_line();
    assert_eq!(output.finish(), "\u{1b}[32m✓\u{1b}[0m   x\n\u{1b}[31m✗\u{1b}[0m y\n");
}
