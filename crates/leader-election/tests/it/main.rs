//! Tests of the election rules, in a simulation, and against the embedded API server.

mod dead_connection;
mod kube_clients;
mod operator;
mod proxy;
mod rules;
mod server;
mod simulation;
