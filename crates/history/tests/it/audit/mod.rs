//! Histories from audit logs.

mod files;
mod laws;
mod levels;
mod log;
mod reads;
pub(crate) mod samples;
mod wrappers;
