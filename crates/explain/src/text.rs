//! Text form of reports, for terminals.
//!
//! Every function returns complete lines, in the order of the report.

mod findings;
mod object;
mod output;
mod pod;
mod rows;
mod service;
mod unknown;
mod written;

#[cfg(test)]
mod tests;

use jiff::Timestamp;

pub use findings::{findings, may_not_read};
pub use object::object;
pub use pod::pod;
pub use service::service;

/// Options of the text form.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextStyle {
    /// Whether marks and codes are coloured, with ANSI escape sequences.
    pub color: bool,
    /// Whether each Pod has its Node and all its ports and reasons, and no Pod is left out.
    pub wide: bool,
    /// Time of the report: times of the same UTC day are shown without the date. `None` shows all dates.
    pub now: Option<Timestamp>,
}
