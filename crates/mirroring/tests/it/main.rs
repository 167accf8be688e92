//! Tests of the plan and of the controller.

mod accepted;
mod cases;
mod failures;
mod prometheus;
mod properties;
mod rig;
mod server;
mod sync;
