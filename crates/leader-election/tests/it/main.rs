//! Elections: by the rules, in a simulation, and against an API server.

mod rules;
mod server;
mod simulation;
