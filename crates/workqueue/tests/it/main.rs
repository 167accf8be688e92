//! Tests of the queue through its public interface.

mod delays;
mod interleavings;
mod limiters;
mod metrics;
#[cfg(feature = "prometheus")]
mod prometheus;
mod queue;
