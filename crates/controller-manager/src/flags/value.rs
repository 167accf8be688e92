//! Values of flags: numbers with bounds, booleans and paths.

use std::path::PathBuf;

use kube_endpoint_model::parse_go_bool;

/// Bounds of a numeric flag, both inclusive.
pub(crate) struct Bounds {
    flag: &'static str,
    min: i64,
    max: i64,
}

impl Bounds {
    pub(crate) fn new(flag: &'static str, min: i64, max: i64) -> Bounds {
        Bounds { flag, min, max }
    }

    /// Returns the number, clamped to the bounds. A number out of bounds is appended to `errors` in upstream's
    /// wording (CM-1).
    pub(crate) fn check<T: TryFrom<i64> + Default>(&self, number: i64, errors: &mut Vec<String>) -> T {
        let Bounds { flag, min, max } = self;
        if number < *min {
            errors.push(format!("{flag} must not be less than {min}, but got {number}"));
        } else if number > *max {
            errors.push(format!("{flag} must not be more than {max}, but got {number}"));
        }
        T::try_from(number.clamp(*min, *max)).unwrap_or_default()
    }
}

/// Parses the value of a boolean flag, with the spellings of Go's `strconv.ParseBool`.
pub(super) fn go_bool_parser(text: &str) -> Result<bool, String> {
    parse_go_bool(text).ok_or_else(|| "expected true or false".to_owned())
}

/// Returns a path; `None` for the empty string, upstream's default.
pub(super) fn path(text: &str) -> Option<PathBuf> {
    Some(PathBuf::from(text)).filter(|_| !text.is_empty())
}
