//! The informer from the outside: its laws as properties, its talk with a server against scripts and against the embedded
//! API server.

mod exchange;
mod handlers;
mod laws;
mod proxy;
mod scripted;
mod server;
mod thing;
