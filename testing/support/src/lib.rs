//! Test support that the tests and benches of several crates share. Only for `dev-dependencies`.
//!
//! The modules wait for a state, stop clocks, script servers, send requests over HTTPS, capture log lines, corrupt or
//! load recorded bytes, have sample objects, walk over the repository, and write tables of the book. The only workspace
//! dependencies are `kube-ambient` and `kube-wire`: if it depended on crate X, the unit tests of X would see two
//! incompatible copies of X's types.
//!
//! # When not to use it
//!
//! - Outside of tests, benches and examples: functions panic on failure.
#![expect(clippy::missing_panics_doc, reason = "a failure is reported by a panic, as in any test")]

pub mod audit;
pub mod bodies;
pub mod book;
mod clocks;
mod corrupt;
mod eventually;
mod fixture;
pub mod https;
mod log_lines;
pub mod pods;
pub mod repository;
pub mod scripted;
pub mod shop;
mod sockets;

pub use clocks::virtual_clocks;
pub use corrupt::corrupt;
pub use eventually::{LIMIT, eventually, until, within};
pub use fixture::{fixture, upstream_metrics};
pub use log_lines::LogLines;
pub use sockets::wait_for_bytes;
