//! Decoding of recorded responses of real API servers, complete, in chunks and corrupted, and of messages with every
//! field set.

mod broken;
mod cuts;
mod damage;
mod fixtures;
mod messages;
mod meta;
