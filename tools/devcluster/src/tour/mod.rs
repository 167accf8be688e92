//! The tour: deployment, rolling update and loss of a Node, while the controllers update the endpoints;
//! then Services that are broken on purpose, and why.

mod expect;
mod explain;
mod play;
mod script;
#[cfg(test)]
mod tests;

use std::{
    io::{self, IsTerminal as _},
    path::Path,
    time::Duration,
};

use anyhow::{Context as _, anyhow, ensure};
use endpoint_controller_manager::Settings;
use serde_json::Value;
use tokio::{
    sync::watch,
    task::{JoinError, JoinSet},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use self::play::Player;
use crate::{
    args::TourArgs,
    cluster::start_informers,
    host::Host,
    kubelet::{self, Delays, Kubelet, Stopping},
    manifests,
    output::print_line,
    view::Screen,
};

/// Start and stop times of containers: long enough to show intermediate states.
const DELAYS: Delays = Delays { ready_after: Duration::from_secs(1), stop_after: Duration::from_secs(1) };

/// Maximum time for the controllers to stop.
const GRACE: Duration = Duration::from_secs(6);

/// Result of a task that runs during the tour: the kubelets or the controllers.
type TaskResult = anyhow::Result<()>;

/// Runs the tour; afterwards, unless `--exit` is given, keeps the cluster running until `signal` is cancelled.
pub(crate) async fn run(args: TourArgs, signal: CancellationToken) -> anyhow::Result<()> {
    let start = Instant::now();
    let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    ensure!(!args.step || has_terminal, "--step needs a terminal as standard input and output");
    let own = manifests::read(&args.server.manifests)?;
    let host = Host::start(&args.server, args.server.config()).await?;
    let stop = CancellationToken::new();
    let (mut tasks, mut informers) = (JoinSet::new(), JoinSet::new());
    let result = tokio::select! {
        result = run_stages(&host, own, &args, start, &stop, &mut tasks, &mut informers) => result,
        () = signal.cancelled() => {
            // With `--exit`, the tour serves as a test: an incomplete tour is a failure.
            if args.exit { Err(anyhow!("terminated by a signal before the end of the tour")) } else { Ok(()) }
        }
    };
    stop.cancel();
    informers.shutdown().await;
    let ended = async { while tasks.join_next().await.is_some() {} };
    if timeout(GRACE, ended).await.is_err() {
        tracing::warn!("the controllers have not stopped in time and are aborted");
    }
    host.server.shutdown().await;
    result
}

async fn run_stages(
    host: &Host,
    own: Vec<Value>,
    args: &TourArgs,
    start: Instant,
    stop: &CancellationToken,
    tasks: &mut JoinSet<TaskResult>,
    informers: &mut JoinSet<()>,
) -> anyhow::Result<()> {
    let screen = Screen::stdout();
    print_line(&format!("API server:  {}\nkubeconfig:  {}", host.server.url(), host.kubeconfig.display()))?;
    let client = host.client().await?;
    let cluster = start_informers(&client, informers).await.context("informers of the view")?;
    let (stopping, stopping_receiver) = watch::channel(Stopping::Proceeds);

    let kubelet = kubelet::run(client.clone(), Kubelet::new(DELAYS), cluster.clone(), stopping_receiver);
    tasks.spawn(async { kubelet.await.context("simulated kubelets") });
    let controllers = endpoint_controller_manager::run(host.config().await?, Settings::default(), stop.clone());
    tasks.spawn(async { controllers.await.context("controllers") });

    let server = &host.server;
    let mut player = Player { server, client, cluster, stopping, screen, own, start };
    let show = async {
        for (at, stage) in script::stages().iter().enumerate() {
            if args.step && at > 0 {
                player.wait_for_enter().await?;
            }
            player.play(stage).await?;
        }
        if args.exit {
            print_line(&format!("\nAll expectations met in {:.1} s.", start.elapsed().as_secs_f64()))?;
            return Ok(());
        }
        print_line(&closing_text(&host.kubeconfig))?;
        player.print_changes_until_end().await
    };
    tokio::select! {
        result = show => result.context("tour"),
        ended = tasks.join_next() => Err(task_error(ended)),
    }
}

fn task_error(ended: Option<Result<TaskResult, JoinError>>) -> anyhow::Error {
    match ended {
        Some(Ok(Err(error))) => error,
        Some(Err(panic)) => anyhow!(panic).context("a task of the tour panicked"),
        Some(Ok(Ok(()))) | None => anyhow!("a task of the tour ended unexpectedly"),
    }
}

/// Returns the text after the last stage. Each command is on a line of its own.
fn closing_text(kubeconfig: &Path) -> String {
    format!(
        "\nEnd of the tour. The cluster keeps running until Ctrl-C.\n\n\
         To look around, in another terminal:\n\n  \
         export KUBECONFIG={}\n  \
         kubectl get services,endpoints,endpointslices -A\n  \
         kubectl -n shop get endpointslices -l kubernetes.io/service-name=web\n  \
         kubectl -n shop delete pod web-v2-1\n\n\
         To explain a Service, with the plugin:\n\n  \
         cargo install --path tools/kubectl-endpoints\n  \
         kubectl endpoints explain svc/checkout -n shop\n\n\
         To read next:\n\n  \
         docs/src/explain.md               why a Pod is not in a Service\n  \
         docs/src/devcluster.md            a server with Deployments, to try kubectl on\n  \
         docs/src/shadow.md                the controllers beside those of your cluster\n  \
         docs/src/writing-a-controller.md  a controller of your own with these crates\n\n\
         Changes are printed below:\n",
        kubeconfig.display()
    )
}
