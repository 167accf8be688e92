//! Patches without field management: strategic merge patches and JSON patches.

mod json_patch;
mod lists;
mod order;
mod shown;
mod strategic;

pub(crate) use json_patch::{JsonOperation, apply_json_patch};
pub(crate) use shown::{go_syntax, go_text, go_type, no_object, rest_of_patch};
pub(crate) use strategic::{StrategicError, merge_strategic};
