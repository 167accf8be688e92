//! Strategic merge patches and JSON patches.

mod json;
mod lists;
mod order;
mod shown;
mod strategic;

pub(crate) use json::apply_json_patch;
pub(crate) use shown::{go_text, rest_of_patch};
pub(crate) use strategic::merge_strategic;
