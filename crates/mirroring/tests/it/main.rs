//! Tests of the plan and of the controller.

mod accepted;
mod cases;
mod failures;
#[cfg(feature = "prometheus")]
mod prometheus;
mod properties;
mod rig;
mod server;
mod sync;
