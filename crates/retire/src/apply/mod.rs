//! The deletion of the Endpoints that a plan allows.
//!
//! ```text
//! plan --stale--> refused
//!   |
//!   +--choose--> targets --Deletion--> quiet --> backup --> first object --> quiet --> batches with pauses
//! ```
//!
//! All decisions are here; the caller reads objects and the clock, writes the backup, and sends requests.

mod choice;
mod deletion;
mod first_reader;
mod kept;
mod outcome;
mod stale;

pub use choice::{Choice, Found, Target, choose};
pub use deletion::{Answer, Deletion, Step, Wait};
pub use first_reader::first_reader;
pub use kept::Kept;
pub use outcome::{Outcome, Stop};
pub use stale::{Present, Stale, stale};
