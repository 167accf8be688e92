//! Tests that run the program as a process.

#![expect(clippy::unwrap_used, reason = "tests, helpers included, fail by panics")]

mod bench;
mod program;
mod serve;
mod tour;
mod workloads;
