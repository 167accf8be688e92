//! `devcluster serve`: runs the API server and the controllers of workloads, and simulates scheduler and kubelets.

use std::{
    io::{self, Write as _},
    pin::pin,
    time::Duration,
};

use anyhow::Context as _;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    args::{AuthorizationMode, KubeconfigOut, ServeArgs},
    cluster::start_informers,
    host::{Host, HostError, user_objects},
    kubelet::{self, Delays, Kubelet, Stopping},
    listen,
    manifest::{Syntax, objects},
    output::{OutputError, print},
    stop::Signals,
    workloads,
};

/// Nodes of the simulated cluster.
const NODES: &str = include_str!("../manifests/nodes.yaml");
/// Commands that are worth trying first.
const COMMANDS: [&str; 3] = [
    "kubectl create deployment web --image=nginx --replicas=3",
    "kubectl expose deployment web --port=80",
    "kubectl get deployments,pods,services,endpointslices",
];
/// Start and stop times of containers.
const DELAYS: Delays = Delays { ready_after: Duration::from_secs(1), stop_after: Duration::from_secs(1) };
/// Pause after an error of the simulated kubelets, such as an injected fault.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum time for running syncs to end after a signal.
const GRACE: Duration = Duration::from_secs(6);

/// Starts the server, applies the user's objects, and serves until a termination signal.
pub(crate) async fn run(args: ServeArgs, mut signals: Signals) -> anyhow::Result<()> {
    let mut all = user_objects(&args.server)?;
    warn_if_open(&args);
    let applied = all.len();
    if args.kubelet && !all.iter().any(|it| it.kind == "Node") {
        all.extend(objects("nodes.yaml", Syntax::Yaml, NODES).map_err(HostError::from)?);
    }
    let host = Host::start(&args.server, args.config()).await?;
    let stop = CancellationToken::new();
    let result = {
        let served = async {
            let Some(applied_all) = stop.run_until_cancelled(host.apply(all)).await else { return Ok(()) };
            applied_all?;
            announce(&host, &args, applied)?;
            if args.server.kubeconfig_out == Some(KubeconfigOut::Print) {
                host.print_kubeconfig()?;
            }
            if args.kubelet {
                let workloads = Box::pin(workloads::run(host.client().await?, stop.clone()));
                let kubelets =
                    async { stop.run_until_cancelled(simulate_kubelets(&host, &stop)).await.unwrap_or(Ok(())) };
                tokio::try_join!(kubelets, workloads)?;
            }
            stop.cancelled().await;
            Ok(())
        };
        let mut served = pin!(served);
        tokio::select! {
            result = served.as_mut() => result,
            () = signals.received() => {
                stop.cancel();
                // The running syncs end before the server does, since their requests would fail.
                timeout(GRACE, served).await.unwrap_or(Ok(()))
            }
        }
    };
    stop.cancel();
    host.shutdown().await;
    result
}

/// Simulates scheduler and kubelets for ever. `stop` ends their informers.
async fn simulate_kubelets(host: &Host, stop: &CancellationToken) -> anyhow::Result<()> {
    let client = host.client().await?;
    let informers = match start_informers(&client, stop).await {
        // A signal during the start has ended them.
        Err(_) if stop.is_cancelled() => return Ok(()),
        informers => informers.context("informers of the simulated kubelets")?,
    };
    let (_stopping, receiver) = watch::channel(Stopping::Proceeds);
    loop {
        let kubelets = kubelet::run(client.clone(), Kubelet::new(DELAYS), informers.state.clone(), receiver.clone());
        if let Err(error) = kubelets.await {
            tracing::warn!(err = %anyhow::Error::from(error), "simulated kubelets");
        }
        sleep(RETRY).await;
    }
}

/// Prints the URL, how to use the kubeconfig, and the number of applied objects; to standard error if standard output is the
/// kubeconfig.
fn announce(host: &Host, args: &ServeArgs, applied: usize) -> Result<(), OutputError> {
    let is_printed = args.server.kubeconfig_out == Some(KubeconfigOut::Print);
    let kubeconfig = host.kubeconfig().display();
    let mut lines = vec![format!("API server:  {}", host.url())];
    lines.extend((!is_printed).then(|| format!("kubeconfig:  {kubeconfig}")));
    if applied > 0 {
        let s = if applied == 1 { "" } else { "s" };
        lines.push(format!("applied:     {applied} object{s}"));
    }
    if !is_printed {
        lines.push(format!("\nIn another terminal:\n\n  export KUBECONFIG={kubeconfig}"));
        lines.extend(COMMANDS.iter().filter(|_| args.kubelet).map(|command| format!("  {command}")));
    }
    let text = lines.join("\n") + "\n";
    if is_printed {
        // Nothing depends on it.
        let _ = io::stderr().lock().write_all(text.as_bytes());
        return Ok(());
    }
    print(&text)
}

/// Warns if everybody in the network has the rights of an administrator.
fn warn_if_open(args: &ServeArgs) {
    let is_open = args.authorization_mode == AuthorizationMode::AlwaysAllow;
    if let Some(warning) = listen::warning(args.server.listen.ip()).filter(|_| is_open) {
        tracing::warn!("{warning} (--authorization-mode=RBAC)");
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    #[tokio::test]
    async fn a_stop_while_the_informers_start_is_no_error() {
        let Some(Command::Serve(args)) = Cli::parse_from(["devcluster", "serve"]).command else { unreachable!() };
        let host = Host::start(&args.server, args.config()).await.unwrap();
        let stop = CancellationToken::new();
        stop.cancel();
        simulate_kubelets(&host, &stop).await.unwrap();
        host.shutdown().await;
    }
}
