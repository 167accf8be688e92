#![doc = include_str!("../README.md")]

mod controller;
mod desired;
mod kept;
mod legacy;
mod plan;
mod priority;
mod truncate;

pub use controller::{Config, Informers, endpoints_controller};
pub use desired::planned_write;
pub use legacy::Legacy;
pub use plan::{Plan, plan};
pub use truncate::MAX_ADDRESSES;
