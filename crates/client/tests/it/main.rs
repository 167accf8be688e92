//! The client against the embedded API server.

mod calls;
mod cluster;
mod events;
mod failures;
mod https;
mod service_account;
