//! How changes of one key are combined into syncs.

use std::fmt;
use std::str::FromStr;

/// How the changes of a key are combined into syncs, in addition to the delay that a handler gives.
///
/// `Display` and `FromStr` use the values of the flag `--updates-batching`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// Each change causes a sync after the delay that the handler gives, as upstream.
    #[default]
    None,
    /// The first change of a quiet key is synced at once; while changes keep coming, the interval between the syncs of
    /// the key grows to 1 s. See [`Enqueuer::add_change_after`](crate::Enqueuer::add_change_after).
    Adaptive,
}

/// How long a change may wait for further ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// At most 200 ms, with a shared timer 220 ms. For changes that remove something which others still use.
    High,
    /// At most 1 s, with a shared timer 1.1 s.
    Normal,
}

/// Error of [`Batching::from_str`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected adaptive or none")]
pub struct UnknownBatching;

impl Batching {
    const ALL: [Batching; 2] = [Batching::None, Batching::Adaptive];

    fn as_str(self) -> &'static str {
        match self {
            Batching::None => "none",
            Batching::Adaptive => "adaptive",
        }
    }
}

impl fmt::Display for Batching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Batching {
    type Err = UnknownBatching;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|it| it.as_str() == text).ok_or(UnknownBatching)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_flag_are_parsed() {
        for batching in Batching::ALL {
            assert_eq!(batching.to_string().parse(), Ok(batching));
        }
        assert_eq!("".parse::<Batching>(), Err(UnknownBatching));
        assert_eq!("Adaptive".parse::<Batching>(), Err(UnknownBatching));
    }
}
