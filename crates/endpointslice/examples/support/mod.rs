//! Code that the examples share: client, lists, and output.
#![allow(dead_code, reason = "no example uses all of it")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use kube_controller_client::{Client, ClientOptions, Config, ListParams};
use kube_endpoint_model::{EndpointPort, Service, TargetPort};
use kube_endpointslice::Plan;
use kube_wire::{Decode, decode_list};

/// Result of an example.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Returns a client for the cluster of `$KUBECONFIG`, or without it for the cluster that the program runs in, and the
/// arguments of the program.
pub(crate) async fn start() -> Result<(Client, Vec<String>)> {
    let config = match std::env::var_os("KUBECONFIG") {
        Some(path) => Config::from_kubeconfig(Path::new(&path)).await?,
        None => Config::in_cluster()?,
    };
    Ok((Client::new(&config, ClientOptions::default())?, std::env::args().skip(1).collect()))
}

/// Lists the objects with these labels in a namespace; `None` for all namespaces.
pub(crate) async fn list<T: Decode>(
    client: &Client,
    namespace: Option<&str>,
    labels: &BTreeMap<String, String>,
) -> Result<Vec<T>> {
    let selector: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let label_selector = (!selector.is_empty()).then(|| selector.join(","));
    let bytes = client.list(&T::RESOURCE, namespace, &ListParams { label_selector, ..ListParams::default() }).await?;
    Ok(decode_list(&bytes)?.items)
}

/// Prints the number of planned writes.
#[expect(clippy::print_stdout, reason = "output of the examples")]
pub(crate) fn report(plan: &Plan) {
    println!("{} writes", plan.writes());
}

/// Returns the ports of a Service with a numeric target port. Named ones are resolved by container ports, which are on
/// the primary network.
pub(crate) fn numbered_ports(service: &Service) -> Vec<EndpointPort> {
    let numbered = service.ports.iter().filter_map(|port| match port.target {
        TargetPort::Number(number) => Some((port, number)),
        TargetPort::Name(_) => None,
    });
    numbered
        .map(|(port, number)| EndpointPort {
            name: Some(port.name.clone()),
            protocol: Some(port.protocol.clone()),
            port: Some(number),
            app_protocol: port.app_protocol.clone(),
        })
        .collect()
}
