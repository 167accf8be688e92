//! Strategic merge patches.

mod order;
mod shown;
mod strategic;

pub(crate) use shown::{go_text, rest_of_patch};
pub(crate) use strategic::{StrategicError, merge_strategic};
