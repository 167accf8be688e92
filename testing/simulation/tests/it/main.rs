//! Tests of the simulation: its oracle, its runs, and what it has found.

#![expect(clippy::unwrap_used, reason = "fixtures of tests")]

mod batching;
mod found;
mod oracle;
mod recordings;
mod runs;
