//! Tests of the plan and of the controller.

mod cases;
mod failures;
mod properties;
mod rig;
mod server;
mod sync;
