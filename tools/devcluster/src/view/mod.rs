//! The cluster as text: tables, and their changes. Only [`Screen`] performs I/O.

mod board;
mod counts;
mod screen;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use board::Board;
pub(crate) use counts::EndpointCounts;
pub(crate) use screen::Screen;
pub(crate) use table::Rows;
