//! Keywords of strings and numbers.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::Regex;
use serde_json::{Number, Value};

use super::formats;
use crate::field::FieldErrors;
use crate::schema::Node;

/// Checks lengths and pattern, whose first violation is reported, and the format. Returns the number of checks.
pub(super) fn check_text(text: &str, schema: Node<'_>, path: &str, errors: &mut FieldErrors) -> usize {
    let (length, limit) = (text.chars().count(), |keyword: &str| schema.get(keyword).and_then(Value::as_u64));
    if let Some(most) = limit("maxLength").and_then(|most| usize::try_from(most).ok()).filter(|most| length > *most) {
        errors.too_long(path, most);
    } else if let Some(least) = limit("minLength").filter(|least| (length as u64) < *least) {
        errors.invalid(path, text, format_args!("{path} in body should be at least {least} chars long"));
    } else if let Some(pattern) = schema.get("pattern").and_then(Value::as_str).filter(|it| !it.is_empty()) {
        match compiled(pattern) {
            Ok(regex) if regex.is_match(text) => {}
            Ok(_) => errors.invalid(path, text, format_args!("{path} in body should match '{pattern}'")),
            Err(error) => {
                let detail = format!("{path} in body should match '{pattern}, but pattern is invalid: {error}'");
                errors.invalid(path, text, detail);
            }
        }
    }
    let format = schema.text_of("format");
    if !formats::is_valid(format, text) {
        errors.format_invalid(path, text, format);
    }
    1 + usize::from(!format.is_empty())
}

/// Returns a pattern, compiled once per process.
fn compiled(pattern: &str) -> Result<Regex, String> {
    static COMPILED: LazyLock<Mutex<HashMap<String, Result<Regex, String>>>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = compiled.get(pattern) {
        return found.clone();
    }
    let new = Regex::new(pattern).map_err(|error| error.to_string());
    compiled.insert(pattern.to_owned(), new.clone());
    new
}

/// Checks multiples and bounds, and returns the number of checks. As upstream, bounds of integers are integers, without
/// their fraction.
pub(super) fn check_number(number: &Number, schema: Node<'_>, path: &str, errors: &mut FieldErrors) -> usize {
    let value = Value::Number(number.clone());
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    if schema.text_of("type") == "integer"
        && schema.text_of("format") == "int32"
        && number.as_i64().is_some_and(|number| i32::try_from(number).is_err())
    {
        errors.invalid_whole(format_args!("Checked value must be of type integer with format int32 in {path}"));
    }
    if let Some(factor) = bound("multipleOf") {
        let (shown, is_multiple) = if let Some(integer) = number.as_i64() {
            let factor = truncated(factor);
            (factor.to_string(), (factor > 0).then(|| integer % factor == 0))
        } else {
            let quotient = number.as_f64().unwrap_or_default() / factor;
            (go_float(factor), (factor > 0.0).then(|| quotient.fract() == 0.0))
        };
        match is_multiple {
            Some(true) => {}
            Some(false) => {
                errors.invalid(path, &value, format_args!("{path} in body should be a multiple of {shown}"));
            }
            None => {
                let detail = format!("factor MultipleOf declared for {path} must be positive: {shown}");
                errors.invalid(path, &value, detail);
            }
        }
    }
    if let Some(least) = bound("minimum") {
        let exclusive = schema.is_true("exclusiveMinimum");
        let (shown, below, equal) = compare(number, least);
        if below.is_lt() || exclusive && equal {
            let than = if exclusive { "greater than" } else { "greater than or equal to" };
            errors.invalid(path, &value, format_args!("{path} in body should be {than} {shown}"));
        }
    }
    if let Some(most) = bound("maximum") {
        let exclusive = schema.is_true("exclusiveMaximum");
        let (shown, above, equal) = compare(number, most);
        if above.is_gt() || exclusive && equal {
            let than = if exclusive { "less than" } else { "less than or equal to" };
            errors.invalid(path, &value, format_args!("{path} in body should be {than} {shown}"));
        }
    }
    2
}

/// Returns a bound as messages show it, and how a number compares with it.
fn compare(number: &Number, bound: f64) -> (String, std::cmp::Ordering, bool) {
    let (shown, order) = match number.as_i64() {
        Some(integer) => (truncated(bound).to_string(), integer.cmp(&truncated(bound))),
        None => (go_float(bound), number.as_f64().unwrap_or_default().total_cmp(&bound)),
    };
    (shown, order, order.is_eq())
}

#[expect(clippy::cast_possible_truncation, reason = "as upstream: int64(bound)")]
fn truncated(bound: f64) -> i64 {
    bound as i64
}

/// Formats a number as the verb `%v` of Go's `fmt`: with an exponent below 1e-4 and from 1e6 on.
pub(super) fn go_float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude) {
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |digits| ("-", digits));
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    number.to_string()
}
