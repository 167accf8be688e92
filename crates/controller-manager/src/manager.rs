//! The controllers on shared caches, in one set of tasks.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Supervisor, SupervisorError};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use kube_endpoint::EndpointsController;
use kube_endpointslice::controller::EndpointSliceController;
use kube_endpointslice_mirroring::MirroringController;
use kube_lease_election::Fence;
use tokio_util::sync::CancellationToken;

use crate::caches::Caches;
use crate::leader::lead;
use crate::settings::Settings;
use crate::user_agent::user_agent;

/// Why the controllers ended without being asked to, or never began.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The API server cannot be talked to with this configuration.
    #[error("cannot set up a client for the API server: {0}")]
    Client(#[from] ConfigError),
    /// The lease could not be renewed in time, or another holds it: the process has to end, as upstream's does.
    #[error("the leader election lease is lost")]
    LeaseLost,
    /// A part failed.
    #[error(transparent)]
    Part(#[from] SupervisorError),
}

/// How long syncs under way may take to end after the request to stop.
///
/// With what giving back the lease takes, the process ends within five seconds.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// Runs the controllers until `stop` is cancelled or a part fails.
///
/// One cache of each kind serves all controllers that read it; each controller writes with a client, and so a rate limit,
/// of its own. An API server that is away is waited for. With leader election, caches are kept from the beginning and
/// controllers start once the lease is held; no write of theirs starts after it may have gone to another.
pub async fn run(config: Config, settings: Settings, stop: CancellationToken) -> Result<(), RunError> {
    let clients = Clients { config, qps: settings.kube_api_qps, burst: settings.kube_api_burst };
    let caches = Caches::new(&clients.part("shared-informers")?);
    let mut supervisor = Supervisor::new(stop.clone());
    caches.spawn(&mut supervisor, settings.controllers, &stop);
    match settings.leader_election.clone() {
        None => {
            start_controllers(&mut supervisor, &caches, &clients, None, &settings, &stop)?;
            supervisor.run(GRACE).await?;
        }
        Some(election) => {
            let client = clients.part("leader-election")?;
            let start = |supervisor: &mut Supervisor, fence: &Fence| {
                start_controllers(supervisor, &caches, &clients, Some(fence), &settings, &stop)
            };
            lead(client, election, supervisor, start, stop.clone()).await?;
        }
    }
    tracing::info!("Stopped");
    Ok(())
}

/// Makes a client for each part of the program, with a rate limit of its own.
struct Clients {
    config: Config,
    qps: f32,
    burst: u32,
}

impl Clients {
    fn part(&self, part: &str) -> Result<Client, ConfigError> {
        let options = ClientOptions { user_agent: user_agent(part), qps: self.qps, burst: self.burst };
        Client::new(&self.config, options)
    }
}

/// Starts the controllers that are wanted. What they write passes the fence, if there is one.
fn start_controllers(
    supervisor: &mut Supervisor,
    caches: &Caches,
    clients: &Clients,
    fence: Option<&Fence>,
    settings: &Settings,
    stop: &CancellationToken,
) -> Result<(), RunError> {
    let Settings {
        controllers,
        leader_election: _,
        endpoint,
        endpointslice,
        mirroring,
        kube_api_qps: _,
        kube_api_burst: _,
    } = settings;
    let client = |part: &str| {
        let client = clients.part(part)?;
        Ok::<_, ConfigError>(match fence {
            Some(fence) => client.gated(Arc::new(Fence::clone(fence))),
            None => client,
        })
    };
    let recorder = |supervisor: &mut Supervisor, client: &Client, component: &'static str| {
        let (recorder, writer) = EventRecorder::new(client.clone(), component);
        supervisor.spawn(format!("event writer of {component}"), writer.run(stop.clone()));
        recorder
    };

    tracing::info!(server = %clients.config.server(), ?controllers, "Starting controllers");
    if controllers.endpoints {
        let client = client("endpoint-controller")?;
        let recorder = recorder(supervisor, &client, "endpoint-controller");
        let informers = kube_endpoint::Informers {
            services: caches.services.clone(),
            pods: caches.pods.clone(),
            endpoints: caches.endpoints.clone(),
        };
        let controller = EndpointsController::new(&informers, client, recorder, *endpoint);
        supervisor.spawn("endpoints-controller", controller.run(stop.clone()));
    }
    if controllers.endpointslice {
        let client = client("endpointslice-controller")?;
        let recorder = recorder(supervisor, &client, "endpoint-slice-controller");
        let informers = kube_endpointslice::controller::Informers {
            services: caches.services.clone(),
            pods: caches.pods.clone(),
            nodes: caches.nodes.clone(),
            slices: caches.slices.clone(),
        };
        let controller = EndpointSliceController::new(&informers, client, recorder, *endpointslice);
        supervisor.spawn("endpointslice-controller", controller.run(stop.clone()));
    }
    if controllers.mirroring {
        let client = client("endpointslicemirroring-controller")?;
        let recorder = recorder(supervisor, &client, "endpoint-slice-mirroring-controller");
        let informers = kube_endpointslice_mirroring::Informers {
            services: caches.services.clone(),
            endpoints: caches.endpoints.clone(),
            slices: caches.slices.clone(),
        };
        let controller = MirroringController::new(&informers, client, recorder, *mirroring);
        supervisor.spawn("endpointslice-mirroring-controller", controller.run(stop.clone()));
    }
    Ok(())
}
