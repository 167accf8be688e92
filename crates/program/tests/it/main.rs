//! Tests of whole controllers.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod controllers;
#[cfg(feature = "prometheus")]
mod metrics;
