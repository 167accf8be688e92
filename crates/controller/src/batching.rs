//! How changes of one key are combined into syncs.

use std::fmt;
use std::str::FromStr;

/// How the changes of a key are combined into syncs, in addition to the delay that a handler gives.
///
/// The first change of a quiet key is always synced at once. See
/// [`Enqueuer::add_change_after`](crate::Enqueuer::add_change_after). `Display` and `FromStr` use the values of the flag
/// `--updates-batching`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// While changes keep coming, the syncs of a key are as far apart as those of upstream, whose syncs take longer: 20 ms,
    /// or for large objects the time of [`Enqueuer::set_interval`](crate::Enqueuer::set_interval), at most 500 ms.
    #[default]
    None,
    /// While changes keep coming, the interval between the syncs of a key grows from 100 ms to 1 s.
    Adaptive,
}

/// How long a change may wait for further ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// With [`Batching::Adaptive`] at most 200 ms, with a shared timer 220 ms. For changes that remove something which others still use.
    High,
    /// With [`Batching::Adaptive`] at most 1 s, with a shared timer 1.1 s.
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
