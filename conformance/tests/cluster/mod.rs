//! Cluster of a test, and the controllers on it.

mod rights;

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use endpoint_controller_manager::{Settings, run};
use kube_controller_client::Config;
use kube_dev_apiserver::{Authorization, LoggedRequest, On, Server, User};
use kube_endpoints_conformance::{CONTROLLERS, ControlPlane, Controllers, Options, Program, Tally, Target, Write};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Size of the request log of the embedded server, at some hundred bytes per request. No file needs as many requests.
const REMEMBERED: usize = 100_000;

/// API server: embedded, started from binaries, or existing.
pub(crate) struct Cluster {
    config: Config,
    /// Kubeconfig of the controllers.
    kubeconfig: PathBuf,
    runs: Runs,
}

/// Servers that run as long as the cluster is used.
enum Runs {
    /// The server and the directory of the kubeconfigs.
    Embedded(Server, TempDir),
    Elsewhere,
    Binaries(#[expect(dead_code, reason = "stopped when it is dropped")] Box<ControlPlane>),
}

impl Cluster {
    pub(crate) async fn start(target: &Target) -> Result<Self> {
        Self::start_with(target, kube_dev_apiserver::Config::default()).await
    }

    /// As [`start`](Self::start), with a configuration of the embedded server, except authorization and request log.
    pub(crate) async fn start_with(target: &Target, config: kube_dev_apiserver::Config) -> Result<Self> {
        let (admin, controllers, runs) = match target {
            Target::Embedded => {
                let config = kube_dev_apiserver::Config {
                    authorization: Authorization::Rbac,
                    request_log: REMEMBERED,
                    ..config
                };
                let server = Server::start(config).await?;
                let files = tempfile::tempdir()?;
                let (admin, controllers) = (files.path().join("admin"), files.path().join("controllers"));
                std::fs::write(&admin, server.kubeconfig())?;
                let user = User::new(rights::USER).group("system:authenticated");
                std::fs::write(&controllers, server.kubeconfig_for(user))?;
                rights::grant(&Config::from_kubeconfig(&admin).await?).await.context("cannot grant the rights")?;
                (admin, controllers, Runs::Embedded(server, files))
            }
            Target::Cluster { kubeconfig } => (kubeconfig.clone(), kubeconfig.clone(), Runs::Elsewhere),
            Target::Binaries { directory } => {
                let started = ControlPlane::start(directory).await?;
                (started.kubeconfig(), started.kubeconfig(), Runs::Binaries(Box::new(started)))
            }
        };
        Ok(Self { config: Config::from_kubeconfig(&admin).await?, kubeconfig: controllers, runs })
    }

    /// Returns a client configuration with all rights.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the embedded server; `None` on other targets.
    #[allow(dead_code, reason = "used only by the hostile scenarios")]
    pub(crate) fn server(&self) -> Option<&Server> {
        match &self.runs {
            Runs::Embedded(server, _) => Some(server),
            Runs::Elsewhere | Runs::Binaries(_) => None,
        }
    }

    /// Runs `work` while the controllers run, and then stops those that it has started.
    ///
    /// # Errors
    /// `work` fails, or the controllers exit during it or do not shut down cleanly.
    pub(crate) async fn with_controllers<T>(
        &self,
        options: &Options,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        // Boxed: futures that contain settings are large.
        Box::pin(self.with_controllers_set(options, settings(), work)).await
    }

    /// As [`with_controllers`](Self::with_controllers). `settings` apply only to controllers in this process.
    pub(crate) async fn with_controllers_set<T>(
        &self,
        options: &Options,
        settings: Settings,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match &options.controllers {
            Controllers::External => work.await,
            Controllers::InProcess => {
                let stop = CancellationToken::new();
                let config = Config::from_kubeconfig(&self.kubeconfig).await?;
                // Boxed: the future of three controllers has many kilobytes.
                let mut controllers = Box::pin(run(config, settings, stop.clone()));
                let done = tokio::select! {
                    done = work => done,
                    ended = &mut controllers => bail!("the controllers exited during the test: {ended:?}"),
                };
                stop.cancel();
                controllers.await.context("the controllers did not shut down cleanly")?;
                done
            }
            Controllers::Program { path } => {
                let mut program = Program::start(path, &self.kubeconfig)?;
                let done = tokio::select! {
                    done = work => done,
                    ended = program.ended() => bail!("the controllers exited during the test: {}", ended?),
                };
                program.stop().await.context("the controllers did not shut down cleanly")?;
                done
            }
        }
    }

    /// Stops the servers and returns the numbers of writes of the controllers, which only the embedded server counts.
    ///
    /// # Errors
    /// The server answered 401 or 403 to a request of the controllers, or its request log was too short.
    pub(crate) async fn stop(self) -> Result<Tally> {
        let Runs::Embedded(server, _files) = self.runs else { return Ok(Tally::default()) };
        let requests = server.requests().matching(&On::any().user_agent(CONTROLLERS));
        let refused: Vec<_> = requests.iter().filter(|it| matches!(it.status, Some(401 | 403))).collect();
        ensure!(refused.is_empty(), "requests of the controllers were denied: {refused:#?}");
        ensure!(requests.len() < REMEMBERED, "the request log is too short");
        let writes: Vec<_> = requests.iter().filter_map(write).collect();
        server.shutdown().await;
        Ok(Tally::of(&writes))
    }
}

/// Converts a request of the embedded server's log. `None` for reads, dry runs and subresources.
pub(crate) fn write(request: &LoggedRequest) -> Option<Write> {
    let is_write = request.matches(&On::writes().subresource("")) && !request.dry_run;
    is_write.then(|| Write {
        verb: request.verb.clone(),
        resource: request.resource.clone(),
        namespace: request.namespace.clone(),
        name: if request.name.is_empty() { request.object_name.clone() } else { request.name.clone() },
        user_agent: request.user_agent.clone(),
        code: request.status,
        accepted: request.applied,
    })
}

/// Returns the settings of the recorded cluster. There too, the request limit was so high that it had no effect.
pub(crate) fn settings() -> Settings {
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
