//! Fault injection: rejected and delayed requests, lost responses, broken watches.
//!
//! A [`Fault`] has an [`Effect`], a selector of requests ([`On`]), and limits on its hits. [`FaultTable`] decides which
//! faults hit a request, without sockets and clocks; the HTTP layer executes the decision.

mod fault;
mod handle;
mod registry;
mod request;
mod table;
#[cfg(test)]
mod tests;

pub use fault::{Effect, End, Fault, FaultState, On};
pub use handle::Faults;
pub(crate) use registry::{FaultRegistry, OpenWatch};
pub(crate) use request::RequestFields;
pub(crate) use table::{Answer, FaultDecision, FaultTable, StreamFaults};
