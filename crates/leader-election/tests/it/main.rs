//! Tests of the election rules, in a simulation, and against the embedded API server.

mod dead_connection;
mod rules;
mod server;
mod simulation;
