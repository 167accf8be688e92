//! The cluster as text: tables, and what changed between two of them. All but the screen is pure.

mod board;
mod counts;
mod screen;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use board::{Board, SERVICE_NAME};
pub(crate) use counts::Counts;
pub(crate) use screen::Screen;
pub(crate) use table::Rows;
