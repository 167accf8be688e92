//! The server over its socket.

#![expect(clippy::unwrap_used, reason = "the client is a test's, and its failures are the test's")]

mod admission;
mod client;
mod contract;
mod custom_kinds;
mod encoded;
mod faults;
mod forms;
mod identity;
mod in_process;
mod kubectl;
mod load;
mod namespaces;
mod pages;
mod patches;
mod protobuf;
mod replay;
mod requests;
mod restore;
mod tls;
mod watches;
