#![doc = include_str!("../README.md")]

mod allocation;
mod balance;
mod cache;
mod event;
mod hints;
#[cfg(test)]
mod notation;
mod policy;
mod ratios;
mod slice_set;
mod tally;
pub mod traffic;

pub use cache::TopologyCache;
pub use event::{DisabledReason, TopologyEvent, disabled_event};
pub use hints::{HintsOutcome, add_hints};
pub use policy::HintPolicy;
pub use ratios::ZoneRatios;
pub use slice_set::{SliceSet, strip_hints};
pub use traffic::{TrafficDistribution, traffic_hints};
