//! Reading what real API servers wrote, whole, cut and broken, and messages with every field set.

mod broken;
mod cuts;
mod damage;
mod fixtures;
mod messages;
mod meta;
