//! Tests of the simulation: its oracle, its runs, what it has found, and shadow mode.

#![expect(clippy::unwrap_used, reason = "fixtures of tests")]

mod batching;
mod found;
mod operators;
mod oracle;
mod recordings;
mod runs;
mod shadow;
