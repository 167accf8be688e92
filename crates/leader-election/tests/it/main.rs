//! Elections: by the rules, in a simulation, and against an API server.

mod dead_connection;
mod rules;
mod server;
mod simulation;
