//! Scenarios on hostile clusters, with the final objects and the numbers of writes that any implementation must
//! satisfy. See the README of this crate.

#[path = "../cluster/mod.rs"]
#[allow(dead_code, reason = "used by the replay test")]
mod cluster;
#[allow(dead_code, reason = "each scenario uses a part")]
mod objects;
mod policy;
#[allow(dead_code, reason = "each scenario uses a part")]
mod world;

mod changed;
mod cleanups;
mod deletions;
mod edits;
mod hints;
mod mirrored;
mod namespaces;
mod refused;
mod responses;
mod restores;
mod standby;
mod times;
