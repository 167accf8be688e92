//! Integration tests of the server.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may panic")]

mod admission;
mod answers;
mod apply;
mod bindings;
mod client;
mod custom_kinds;
mod dry_run;
mod encoded;
mod faults;
mod foreign_clients;
mod forms;
mod identity;
mod in_process;
mod kube_helpers;
mod load;
mod pages;
mod patches;
mod protobuf;
mod replay;
mod requests;
mod restore;
mod selectors;
mod tls;
mod typed;
mod wait;
mod watches;
