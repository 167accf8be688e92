//! The program as its users run it.

#![expect(clippy::unwrap_used, reason = "a test ends where something is not as expected, helpers included")]

mod bench;
mod program;
mod serve;
mod tour;
