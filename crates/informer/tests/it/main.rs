//! The informer from the outside: its laws as properties, its talk with a server against scripts and against the embedded
//! API server.

mod encodings;
mod exchange;
mod factory;
mod handlers;
mod laws;
mod listers;
mod log;
mod metrics;
mod progress;
mod proxy;
mod replay;
mod resync;
mod schedules;
mod scripted;
mod server;
mod silence;
mod sync;
mod thing;
mod undecodable;
mod write_through;
