//! Histories from audit logs.

mod files;
mod laws;
mod levels;
mod log;
pub(crate) mod samples;
mod wrappers;
