//! The controllers on shared caches, in one set of tasks.

use std::time::Duration;

use kube_controller::{Supervisor, SupervisorError};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use kube_endpoint::EndpointsController;
use kube_endpointslice::controller::EndpointSliceController;
use kube_endpointslice_mirroring::MirroringController;
use tokio_util::sync::CancellationToken;

use crate::caches::Caches;
use crate::settings::Settings;
use crate::user_agent::user_agent;

/// Why the controllers ended without being asked to, or never began.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The API server cannot be talked to with this configuration.
    #[error("cannot set up a client for the API server: {0}")]
    Client(#[from] ConfigError),
    /// A part failed.
    #[error(transparent)]
    Part(#[from] SupervisorError),
}

/// How long syncs under way may take to end after the request to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the controllers until `stop` is cancelled or a part fails.
///
/// One cache of each kind serves all controllers that read it; each controller writes with a client, and so a rate limit,
/// of its own. An API server that is away is waited for.
pub async fn run(config: Config, settings: Settings, stop: CancellationToken) -> Result<(), RunError> {
    let Settings { controllers, endpoint, endpointslice, mirroring, kube_api_qps, kube_api_burst } = settings;
    let client = |part: &str| {
        let options = ClientOptions { user_agent: user_agent(part), qps: kube_api_qps, burst: kube_api_burst };
        Client::new(&config, options)
    };
    let caches = Caches::new(&client("shared-informers")?);
    let mut supervisor = Supervisor::new(stop.clone());
    let recorder = |supervisor: &mut Supervisor, client: &Client, component: &'static str| {
        let (recorder, writer) = EventRecorder::new(client.clone(), component);
        supervisor.spawn(format!("event writer of {component}"), writer.run(stop.clone()));
        recorder
    };

    tracing::info!(server = %config.server(), ?controllers, "Starting controllers");
    if controllers.endpoints {
        let client = client("endpoint-controller")?;
        let recorder = recorder(&mut supervisor, &client, "endpoint-controller");
        let informers = kube_endpoint::Informers {
            services: caches.services.clone(),
            pods: caches.pods.clone(),
            endpoints: caches.endpoints.clone(),
        };
        let controller = EndpointsController::new(&informers, client, recorder, endpoint);
        supervisor.spawn("endpoints-controller", controller.run(stop.clone()));
    }
    if controllers.endpointslice {
        let client = client("endpointslice-controller")?;
        let recorder = recorder(&mut supervisor, &client, "endpoint-slice-controller");
        let informers = kube_endpointslice::controller::Informers {
            services: caches.services.clone(),
            pods: caches.pods.clone(),
            nodes: caches.nodes.clone(),
            slices: caches.slices.clone(),
        };
        let controller = EndpointSliceController::new(&informers, client, recorder, endpointslice);
        supervisor.spawn("endpointslice-controller", controller.run(stop.clone()));
    }
    if controllers.mirroring {
        let client = client("endpointslicemirroring-controller")?;
        let recorder = recorder(&mut supervisor, &client, "endpoint-slice-mirroring-controller");
        let informers = kube_endpointslice_mirroring::Informers {
            services: caches.services.clone(),
            endpoints: caches.endpoints.clone(),
            slices: caches.slices.clone(),
        };
        let controller = MirroringController::new(&informers, client, recorder, mirroring);
        supervisor.spawn("endpointslice-mirroring-controller", controller.run(stop.clone()));
    }

    caches.spawn(&mut supervisor, controllers, &stop);
    supervisor.run(GRACE).await?;
    tracing::info!("Stopped");
    Ok(())
}
