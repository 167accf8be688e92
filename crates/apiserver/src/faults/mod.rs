//! Faults on demand: what breaks controllers in production, made here.
//!
//! A [`Fault`] is an [`Effect`], the requests it is for, and how often it strikes. Which fault hits which request is
//! decided by [`FaultTable`], which knows neither sockets nor clocks; the HTTP shell carries the decision out.

mod board;
mod fault;
mod table;
#[cfg(test)]
mod tests;

pub use board::Faults;
pub(crate) use board::{FaultBoard, OpenWatch};
pub use fault::{Effect, End, Fault, FaultState, On};
pub(crate) use table::{Answer, Caller, Decision, FaultTable, StreamFaults};
