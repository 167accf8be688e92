#![doc = include_str!("../README.md")]

mod chaos;
#[cfg(feature = "endpoints")]
pub mod endpoints;
mod fault;
mod frames;
mod log;
mod oracle;
mod pending;
mod point;
mod process;
mod request;
mod run;
mod run_state;
mod script;
mod settle;
mod shrink;
pub mod sieve;
mod transport;
mod versions;

pub use chaos::Chaos;
pub use fault::{Disturbance, Fault, ParseError, Plan, Policy};
pub use log::{Entry, EntryKind, Log};
pub use oracle::{Rules, Write};
pub use point::{Point, Verb};
pub use process::{Environment, Process, ProcessError};
pub use request::Target;
pub use run::{Limits, Outcome, Simulation};
pub use run_state::Faults;
pub use script::{Operation, Step};
pub use shrink::{Shrunk, reduced, shrink};
pub use transport::{Transport, TransportBody};
pub use versions::Versions;
