//! Histories from audit logs.

mod files;
mod laws;
mod levels;
mod log;
mod wrappers;
