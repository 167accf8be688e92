//! Controllers that write slices, one a module.

use std::error::Error;

use kube_endpoint_model::{EndpointPort, Service};

pub(crate) mod gateway;
pub(crate) mod mirroring;
pub(crate) mod resource_claims;
pub(crate) mod secondary_network;
pub(crate) mod service_import;
pub(crate) mod service_pods;

/// Result of a controller or of one of its syncs.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Returns the ports of a Service with a numeric target port. Named ones are resolved by container ports, which are on
/// the primary network.
fn numbered_ports(service: &Service) -> Vec<EndpointPort> {
    service.ports.iter().filter_map(|port| Some(port.endpoint_port(port.target.number()?))).collect()
}
