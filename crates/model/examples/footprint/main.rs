//! Memory of a process that follows a large cluster with the five informers of the endpoint controllers.
//!
//! `cargo run --release -p kube-endpoint-model --example footprint -- [PODS]`
//!
//! Fills an embedded API server with `PODS` Pods of production size (150,000 by default), a Service, a slice and an
//! Endpoints object per 15 Pods and a Node per 30 Pods. Follower processes then measure peak resident memory (`VmHWM`)
//! with all informers at once, and the heap per kind with one informer after the other.

#![expect(clippy::print_stdout, reason = "prints its results")]

mod cluster;
mod follow;

use std::env;
use std::process::Command;

use kube_dev_apiserver::{Config, Server};
use kube_wire::Encoding;
use tokio::runtime::Builder;

use crate::follow::Order;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Without overhead unless a profiler runs.
#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn main() -> Result<(), Error> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["follow", url, encoding, order] => {
            let encoding = if encoding == "protobuf" { Encoding::Protobuf } else { Encoding::Json };
            let order = if order == "at-once" { Order::AtOnce } else { Order::OneByOne };
            runtime.block_on(follow::follow(url, encoding, order))
        }
        [] => runtime.block_on(measure(150_000)),
        [pods] => runtime.block_on(measure(pods.parse()?)),
        _ => Err("usage: footprint [PODS]".into()),
    }
}

async fn measure(pods: usize) -> Result<(), Error> {
    let config = Config { watch_history: 1_000, request_log: 0, ..Config::default() };
    let server = Server::start(config).await?;
    cluster::load(&server, pods)?;
    for (encoding, order) in [("protobuf", "at-once"), ("json", "at-once"), ("protobuf", "one-by-one")] {
        println!("\n{encoding}, {order}:");
        let mut follower = Command::new(env::current_exe()?);
        follower.args(["follow", &server.url(), encoding, order]);
        let status = tokio::task::spawn_blocking(move || follower.status()).await??;
        if !status.success() {
            return Err(format!("the follower ended with {status}").into());
        }
    }
    server.shutdown().await;
    Ok(())
}
