//! Scenarios on hostile clusters, with the final objects and the numbers of writes that any implementation must
//! satisfy. See the README of this crate.

#[allow(dead_code, reason = "used by the replay test")]
mod cluster;

mod hostile {
    #[allow(dead_code, reason = "each scenario uses a part")]
    pub(crate) mod objects;
    pub(crate) mod policy;
    #[allow(dead_code, reason = "each scenario uses a part")]
    pub(crate) mod world;

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
}

use hostile::{objects, policy, world};
