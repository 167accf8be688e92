//! Clusters that work against the controllers, and what any controller must get right on them: the final objects, and how
//! many writes lead there. See the README of this crate.

#[path = "../cluster/mod.rs"]
#[allow(dead_code, reason = "the replay uses the rest")]
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
