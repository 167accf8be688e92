//! What is decided, and what is done about it.

mod cases;
mod failures;
mod laws;
mod rig;
mod server;
mod sync;
