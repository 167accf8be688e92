//! Integration tests: properties of the store and its events, and requests to scripted servers and to the embedded API
//! server.

mod any_schedule;
mod encodings;
mod exchange;
mod foreign_writes;
mod guard;
mod handlers;
mod laws;
mod listers;
mod log;
mod managed_fields;
mod messages;
mod metrics;
mod monotonic;
mod on_undecodable;
mod outages;
mod own_events;
mod progress;
#[cfg(feature = "prometheus")]
mod prometheus;
mod read_timeouts;
mod replay;
mod resources;
mod restores;
mod resync;
#[cfg(feature = "runtime")]
mod runtime;
mod server;
mod stalled_streams;
mod sync;
mod thing;
mod undecodable;
mod write_through;
