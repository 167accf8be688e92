//! A cluster to play on, and the controllers on it.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use endpoint_controller_manager::{Settings, run};
use kube_controller_client::Config;
use kube_dev_apiserver::Server;
use kube_endpoints_conformance::{ControlPlane, Target};
use tokio_util::sync::CancellationToken;

/// An API server, ours or another.
pub(crate) struct Cluster {
    config: Config,
    runs: Runs,
}

/// What runs as long as the cluster is needed.
enum Runs {
    Embedded(Server),
    Elsewhere,
    Binaries(#[expect(dead_code, reason = "ends with us")] Box<ControlPlane>),
}

impl Cluster {
    pub(crate) async fn start(target: &Target) -> Result<Self> {
        let (config, runs) = match target {
            Target::Embedded => {
                let server = Server::start(kube_dev_apiserver::Config::default()).await?;
                (Config::from_url(&server.url())?, Runs::Embedded(server))
            }
            Target::Cluster { kubeconfig, .. } => (Config::from_kubeconfig(kubeconfig).await?, Runs::Elsewhere),
            Target::Binaries { directory } => {
                let started = ControlPlane::start(directory).await?;
                (started.config().await?, Runs::Binaries(Box::new(started)))
            }
        };
        Ok(Self { config, runs })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Does `work` while the controllers run, unless somebody else runs them.
    pub(crate) async fn with_controllers<T>(
        &self,
        target: &Target,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if matches!(target, Target::Cluster { external_controllers: true, .. }) {
            return work.await;
        }
        let stop = CancellationToken::new();
        // Boxed: three controllers make a future of many kilobytes.
        let mut controllers = Box::pin(run(self.config.clone(), settings(), stop.clone()));
        let done = tokio::select! {
            done = work => done,
            ended = &mut controllers => bail!("the controllers ended too early: {ended:?}"),
        };
        stop.cancel();
        controllers.await.context("the controllers did not end well")?;
        done
    }

    pub(crate) async fn stop(self) {
        if let Runs::Embedded(server) = self.runs {
            server.shutdown().await;
        }
    }
}

/// As the recorded cluster was set up. The limit on requests was lifted there too: it would only slow the test.
fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.client.qps = 2_000.0;
    settings.client.burst = 4_000;
    settings.client.service_account_credentials = true;
    let batch_period = Duration::from_millis(500);
    settings.endpoint.batch_period = batch_period;
    settings.endpointslice.batch_period = batch_period;
    settings.mirroring.batch_period = batch_period;
    settings
}
