//! A deterministic simulator for Kubernetes controllers.

pub mod endpoints;
mod script;

pub use script::{Operation, Step};
