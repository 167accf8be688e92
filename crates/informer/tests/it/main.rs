//! Integration tests: properties of the store and its events, and requests to scripted servers and to the embedded API
//! server.

mod encodings;
mod exchange;
mod foreign_writes;
mod guard;
mod handlers;
mod laws;
mod listers;
mod log;
mod managed_fields;
mod metrics;
mod on_undecodable;
mod own_events;
mod progress;
mod proxy;
mod read_timeouts;
mod replay;
mod resources;
mod resync;
mod schedules;
mod server;
mod sync;
mod thing;
mod undecodable;
mod write_through;
