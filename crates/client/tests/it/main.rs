//! Integration tests of the client against the embedded API server and against misbehaving servers.

mod adaptive;
mod availability;
mod calls;
mod cluster;
mod connections;
mod discovery;
mod events;
mod failures;
mod gated_kube_client;
mod https;
mod identity;
mod in_process;
mod kube_interop;
mod master;
#[cfg(feature = "prometheus")]
mod metrics;
mod proxy;
mod read_only;
mod rotation;
mod service_account;
mod tls;
mod writes;
