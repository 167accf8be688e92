//! Numbers in sentences.

use std::fmt::Display;

/// Returns the number with commas between thousands, such as `1,234`.
pub fn thousands(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the number and the noun, with `s` unless the number is 1.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Returns the names, of many the first three: `a, b, c and 27 more`.
pub(crate) fn named(names: &[&str]) -> String {
    first_named(names, 3)
}

/// Returns the names, of many the first `max`.
pub(crate) fn first_named(names: &[&str], max: usize) -> String {
    let first = names[..names.len().min(max)].join(", ");
    match names.len().saturating_sub(max) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
