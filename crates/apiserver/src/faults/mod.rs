//! Fault injection: rejected and delayed requests, lost responses, broken watches.
//!
//! A [`Fault`] has an [`Effect`], a selector of requests ([`On`]), and limits on its hits. [`FaultTable`] decides which
//! faults hit a request, without sockets and clocks; the HTTP layer executes the decision.

mod board;
mod fault;
mod table;
#[cfg(test)]
mod tests;

pub use board::Faults;
pub(crate) use board::{FaultBoard, OpenWatch};
pub use fault::{Effect, End, Fault, FaultState, On};
pub(crate) use table::{Answer, Caller, Decision, FaultTable, StreamFaults};
