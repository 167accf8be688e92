//! Runs the controller that the first argument names, in the cluster of the kubeconfig, or without one in the cluster that
//! the program runs in. What it does is said in its module.
//!
//!     cargo run -p kube-endpointslice --example slice_controllers -- gateway

mod controllers;

use controllers::{Result, gateway, mirroring, resource_claims, secondary_network, service_import, service_pods};
use kube_controller_program::{Client, ClientOptions, Config, stop_on_signals};

const USAGE: &str = "usage: slice_controllers \
    gateway | mirroring | resource_claims | secondary_network | service_import <kubeconfig>... | service_pods";

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, kubeconfigs)) = arguments.split_first() else { return Err(USAGE.into()) };
    let client = Client::new(&Config::infer().await?, ClientOptions::default())?;
    let stop = stop_on_signals()?;
    match name.as_str() {
        "gateway" => gateway::run(client, stop).await,
        "mirroring" => mirroring::run(client, stop).await,
        "resource_claims" => resource_claims::run(client, stop).await,
        "secondary_network" => secondary_network::run(client, stop).await,
        "service_import" => {
            let mut others = Vec::new();
            for path in kubeconfigs {
                others.push(Client::new(&Config::from_kubeconfig(path.as_ref()).await?, ClientOptions::default())?);
            }
            service_import::run(client, others, stop).await
        }
        "service_pods" => service_pods::run(client, stop).await,
        _ => Err(USAGE.into()),
    }
}
