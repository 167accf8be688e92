//! The tour: a small shop opens, rolls out, and loses a node, while the controllers keep its endpoints.

mod expect;
mod place;
mod play;
mod script;
#[cfg(test)]
mod tests;

use std::{path::Path, time::Duration};

use anyhow::{Context as _, anyhow};
use endpoint_controller_manager::Settings;
use tokio::{
    sync::watch,
    task::{JoinError, JoinSet},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use self::play::{Player, TourError};
use crate::{
    args::TourArgs,
    cluster::follow,
    host::{Host, own_objects},
    kubelet::{self, Kubelet, Pace, Stopping},
    manifest::Object,
    stop::Signals,
    view::Screen,
};

/// Long enough to be seen, short enough not to be waited for.
const PACE: Pace = Pace { ready_after: Duration::from_secs(1), stop_after: Duration::from_secs(1) };

/// How long the controllers may take to end.
const GRACE: Duration = Duration::from_secs(6);

/// Something that runs beside the tour.
type Part = anyhow::Result<()>;

/// Gives the tour; unless it is to end then, stays up until told to stop.
pub(crate) async fn run(args: TourArgs, mut signals: Signals) -> anyhow::Result<()> {
    let start = Instant::now();
    let TourArgs { server, exit } = args;
    let own = own_objects(&server)?;
    let host = Host::start(&server, server.config()).await?;
    let stop = CancellationToken::new();
    let mut parts = JoinSet::new();
    let result = tokio::select! {
        result = guide(&host, own, exit, start, &stop, &mut parts) => result,
        () = signals.received() => {
            // Who runs the tour as a test must not take half of it for a pass.
            if exit { Err(anyhow!("told to stop before the tour was over")) } else { Ok(()) }
        }
    };
    stop.cancel();
    let ended = async { while parts.join_next().await.is_some() {} };
    if timeout(GRACE, ended).await.is_err() {
        tracing::warn!("the controllers are slow to stop and are left behind");
    }
    host.shutdown().await;
    result
}

async fn guide(
    host: &Host,
    own: Vec<Object>,
    exit: bool,
    start: Instant,
    stop: &CancellationToken,
    parts: &mut JoinSet<Part>,
) -> anyhow::Result<()> {
    let screen = Screen::stdout();
    screen.text(&format!("API server:  {}\nkubeconfig:  {}", host.url(), host.kubeconfig().display()))?;
    let client = host.client().await?;
    let followed = follow(&client, stop).await.context("cannot follow the cluster")?;
    let (stopping, held) = watch::channel(Stopping::Proceeds);

    let kubelet = kubelet::run(client.clone(), Kubelet::new(PACE), followed.state.clone(), held);
    parts.spawn(async { kubelet.await.context("the kubelet") });
    let controllers = endpoint_controller_manager::run(host.config().await?, Settings::default(), stop.clone());
    parts.spawn(async { controllers.await.context("the controllers") });

    let mut player = Player { client, cluster: followed.state.clone(), stopping, screen, own, start };
    let show = async {
        for stage in &script::stages() {
            player.play(stage).await?;
        }
        if exit {
            player.screen.text(&format!("\nAll as expected, in {:.1} s.", start.elapsed().as_secs_f64()))?;
            return Ok(());
        }
        player.screen.text(&farewell(host.kubeconfig()))?;
        player.look_on().await
    };
    tokio::select! {
        shown = show => shown.map_err(|error: TourError| anyhow!(error).context("the tour")),
        ended = parts.join_next() => Err(why(ended)),
    }
}

/// Why a part ended that should not have.
fn why(ended: Option<Result<Part, JoinError>>) -> anyhow::Error {
    match ended {
        Some(Ok(Err(error))) => error,
        Some(Err(panic)) => anyhow!(panic).context("a part of the tour"),
        Some(Ok(Ok(()))) | None => anyhow!("a part of the tour ended too early"),
    }
}

fn farewell(kubeconfig: &Path) -> String {
    let kubectl = format!("kubectl --kubeconfig {}", kubeconfig.display());
    format!(
        "\nThat was the tour; the cluster stays up until Ctrl-C. To look around:\n\n  \
         {kubectl} get services,endpoints,endpointslices -A\n  \
         {kubectl} -n shop get endpointslices -l kubernetes.io/service-name=web -o yaml\n  \
         {kubectl} -n shop get pods -o wide\n  \
         {kubectl} -n shop delete pod web-v2-1\n\n\
         What changes shows here:\n"
    )
}
