//! Tests of the plan and of the controller.

mod cases;
mod failures;
mod legacy;
mod orphans;
mod plan;
mod properties;
mod review;
mod rig;
mod sync;
