//! Code that the examples share.
#![allow(dead_code, reason = "no example uses all of it")]

use std::error::Error;

use kube_controller_program::{Client, ClientOptions, Config};
use kube_endpoint_model::{EndpointPort, Service};

/// Result of an example.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Returns a client for the cluster of the kubeconfig, or without one for the cluster that the program runs in.
pub(crate) async fn client() -> Result<Client> {
    Ok(Client::new(&Config::infer().await?, ClientOptions::default())?)
}

/// Returns the ports of a Service with a numeric target port. Named ones are resolved by container ports, which are on
/// the primary network.
pub(crate) fn numbered_ports(service: &Service) -> Vec<EndpointPort> {
    service.ports.iter().filter_map(|port| Some(port.endpoint_port(port.target.number()?))).collect()
}
