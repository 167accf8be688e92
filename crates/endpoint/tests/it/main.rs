//! What is decided, and what is done about it.

mod cases;
mod failures;
mod laws;
mod legacy;
mod plan;
mod rig;
mod sync;
