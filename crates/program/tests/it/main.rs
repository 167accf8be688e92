//! Tests of whole controllers.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod controllers;
mod gate;
mod health;
#[cfg(feature = "prometheus")]
mod metrics;
mod parts;
mod requeue;
mod server;
#[cfg(unix)]
mod signals;
