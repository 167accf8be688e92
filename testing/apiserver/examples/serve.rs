//! Serves until Ctrl-C. Arguments: file to which the kubeconfig is written, and the port (default: any free one).
//!
//! `cargo run -p kube-dev-apiserver --example serve -- kubeconfig.yaml 8080`

use std::net::{Ipv4Addr, SocketAddr};

use kube_dev_apiserver::{Config, Server};

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve())
}

async fn serve() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let kubeconfig = arguments.next().ok_or("usage: serve KUBECONFIG [PORT]")?;
    let port = arguments.next().map_or(Ok(0), |port| port.parse())?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, port));

    let server = Server::start(Config { listen, ..Config::default() }).await?;
    std::fs::write(&kubeconfig, server.kubeconfig())?;
    eprintln!("{} (kubectl --kubeconfig {kubeconfig})", server.url());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
