//! The argument `--seeds`.

use std::str::FromStr;

/// A half-open range of seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seeds {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (from, to) = text.split_once("..")?;
            Some(Seeds { from: from.parse().ok()?, to: to.parse().ok()? })
        };
        parse().filter(|it| it.from < it.to).ok_or_else(|| "expected a range of seeds, such as 0..1000".to_owned())
    }
}
