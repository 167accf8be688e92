//! Decoding of recorded responses of real API servers, complete, in chunks and corrupted, and of messages with every
//! field set.

mod chunks;
mod corruption;
mod fixtures;
mod messages;
mod meta;
