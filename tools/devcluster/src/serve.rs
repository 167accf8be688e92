//! `devcluster serve`: runs the API server and the controllers of workloads, and simulates scheduler and kubelets.

use std::{fmt::Write as _, time::Duration};

use anyhow::Context as _;
use tokio::{sync::watch, task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    args::ServeArgs,
    cluster::start_informers,
    host::Host,
    kubelet::{self, Delays, Kubelet, Stopping},
    manifests,
    output::{OutputError, print},
    workloads,
};

/// Nodes of the simulated cluster.
const NODES: &str = include_str!("../manifests/nodes.yaml");
/// Commands that are worth trying first.
const COMMANDS: &str = "  kubectl create deployment web --image=nginx --replicas=3
  kubectl expose deployment web --port=80
  kubectl get deployments,pods,services,endpointslices
";
/// Start and stop times of containers.
const DELAYS: Delays = Delays { ready_after: Duration::from_secs(1), stop_after: Duration::from_secs(1) };
/// Pause after an error of the simulated kubelets, such as an injected fault.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum time for running syncs to end after a signal.
const GRACE: Duration = Duration::from_secs(6);

/// Starts the server, creates the user's objects, and serves until `stop` is cancelled.
pub(crate) async fn run(args: ServeArgs, stop: CancellationToken) -> anyhow::Result<()> {
    let mut all = manifests::read(&args.server.manifests)?;
    let own = all.len();
    if args.kubelet && !all.iter().any(|it| it["kind"] == "Node") {
        all.extend(manifests::parse("nodes.yaml", NODES)?);
    }
    let host = Host::start(&args.server, args.config()).await?;
    let served = async {
        host.server.load(all)?;
        announce(&host, &args, own)?;
        if args.kubelet {
            let workloads = Box::pin(workloads::run(host.client().await?, stop.clone()));
            tokio::try_join!(simulate_kubelets(&host, &stop), workloads)?;
        }
        stop.cancelled().await;
        Ok(())
    };
    // The running syncs end before the server does, since their requests would fail.
    let overdue = async {
        stop.cancelled().await;
        sleep(GRACE).await;
    };
    let result = tokio::select! {
        result = served => result,
        () = overdue => Ok(()),
    };
    host.server.shutdown().await;
    result
}

/// Simulates scheduler and kubelets until `stop` is cancelled.
async fn simulate_kubelets(host: &Host, stop: &CancellationToken) -> anyhow::Result<()> {
    let mut informers = JoinSet::new();
    let simulation = async {
        let client = host.client().await?;
        let cluster = start_informers(&client, &mut informers).await.context("informers of the simulated kubelets")?;
        let (_stopping, receiver) = watch::channel(Stopping::Proceeds);
        loop {
            let kubelets = kubelet::run(client.clone(), Kubelet::new(DELAYS), cluster.clone(), receiver.clone());
            if let Err(error) = kubelets.await {
                tracing::warn!(err = %anyhow::Error::from(error), "simulated kubelets");
            }
            sleep(RETRY).await;
        }
    };
    let result = stop.run_until_cancelled(simulation).await.unwrap_or(Ok(()));
    informers.shutdown().await;
    result
}

/// Prints the URL, how to use the kubeconfig, and the number of the user's objects.
fn announce(host: &Host, args: &ServeArgs, own: usize) -> Result<(), OutputError> {
    let kubeconfig = host.kubeconfig.display();
    let mut text = format!("API server:  {}\nkubeconfig:  {kubeconfig}\n", host.server.url());
    // Writing to a string cannot fail.
    if own > 0 {
        let _ = writeln!(text, "created:     {own} object{}", if own == 1 { "" } else { "s" });
    }
    let _ = writeln!(text, "\nIn another terminal:\n\n  export KUBECONFIG={kubeconfig}");
    print(&(text + if args.kubelet { COMMANDS } else { "" }))
}
