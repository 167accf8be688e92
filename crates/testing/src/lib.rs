//! Test support that the tests and benches of several crates share. Only for `dev-dependencies`.
//!
//! It depends on no crate of this workspace but `kube-wire`, so that the unit tests of all others can use it: in a unit test, the
//! tested crate is compiled a second time, and its types differ from those that a dependency uses.
#![expect(clippy::missing_panics_doc, reason = "a failure is reported by a panic, as in any test")]

pub mod bodies;
mod corrupt;
mod eventually;
mod fixture;
pub mod https;
pub mod pods;
pub mod scripted;

pub use corrupt::corrupt;
pub use eventually::{LIMIT, eventually, until, within};
pub use fixture::fixture;
