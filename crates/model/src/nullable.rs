//! Reading `null` as the zero value, as Go's JSON decoder does.

use serde::{Deserialize, Deserializer};

/// For `#[serde(deserialize_with)]` on fields of which servers and older clients write `null` for "none".
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
