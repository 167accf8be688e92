//! Fault injection: rejected and delayed requests, lost responses, wrong lists, broken watches.
//!
//! A [`Fault`] has an [`Effect`], a selector of requests ([`On`]), and limits on its hits. [`FaultTable`] decides which
//! faults hit a request, without sockets and clocks; the HTTP layer executes the decision.

mod fault;
mod handle;
mod on;
mod registry;
mod table;
mod unmatchable;

pub use fault::{Effect, End, Fault, FaultState};
pub use handle::Faults;
pub use on::On;
pub(crate) use registry::{FaultRegistry, OpenWatch};
pub(crate) use table::{FaultTable, Omission, StreamFaults};
pub(crate) use unmatchable::UnmatchableError;
