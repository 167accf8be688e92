//! Discovery of the EndpointSlice API.
//!
//! The slice controllers cannot work without it. Upstream's `startEndpointSliceController` does not check: the
//! informers fail with 404 and retry without end. (Earlier versions checked once, with `AvailableResources`, and never
//! started the controllers if the API was missing.) Here the informer of EndpointSlices waits until the API is served,
//! and `/readyz` gives the reason. The other informers and the Endpoints controller do not wait.

use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use kube_controller_client::{Client, Error};
use prometheus::IntGaugeVec;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// API version that the slice controllers write.
pub(crate) const GROUP_VERSION: &str = "discovery.k8s.io/v1";
/// Resource that the slice controllers write.
pub(crate) const RESOURCE: &str = "endpointslices";
const PATH: &str = "/apis/discovery.k8s.io/v1";
/// First back-off between two requests; it doubles after each.
const INITIAL_BACKOFF: Duration = Duration::from_millis(500);
/// Maximum back-off while requests fail.
const MAX_BACKOFF_ON_ERROR: Duration = Duration::from_secs(2);
/// Maximum back-off while the API server answers that it does not serve EndpointSlices.
const MAX_BACKOFF_IF_MISSING: Duration = Duration::from_secs(30);

/// Result of the last discovery request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Availability {
    /// The API server has not answered yet.
    Unknown,
    /// The API server does not serve EndpointSlices.
    Missing,
    /// The API server serves EndpointSlices. Final: it is not checked again.
    Served,
}

/// Availability of the EndpointSlice API, as last discovered. Clones share the state.
#[derive(Debug, Clone)]
pub(crate) struct SliceApi {
    state: watch::Sender<Availability>,
    gauge: Option<IntGaugeVec>,
}

impl SliceApi {
    /// Creates the state before discovery. `gauge`, labelled with API version and resource, becomes 1 when
    /// EndpointSlices are served and 0 while they are not; the series is absent until the API server has answered.
    pub(crate) fn new(gauge: Option<IntGaugeVec>) -> SliceApi {
        SliceApi { state: watch::Sender::new(Availability::Unknown), gauge }
    }

    /// The readiness check `api/discovery.k8s.io/v1`: `Err` with the reason until EndpointSlices are served.
    pub(crate) fn check(&self) -> Result<(), String> {
        match *self.state.borrow() {
            Availability::Unknown => Err("the API server has not been reached yet".to_owned()),
            Availability::Missing => Err(format!("the API server does not serve {RESOURCE} of {GROUP_VERSION}")),
            Availability::Served => Ok(()),
        }
    }

    /// Polls the API server until it serves EndpointSlices. Returns `false` if `stop` is cancelled first.
    ///
    /// `waiting` are the names of the waiting controllers, for the log.
    pub(crate) async fn wait_until_served(&self, client: &Client, waiting: &[&str], stop: &CancellationToken) -> bool {
        let mut backoff = INITIAL_BACKOFF;
        loop {
            let recovery = client.availability().recovery();
            let Some(response) = stop.run_until_cancelled(client.get_json(PATH)).await else { return false };
            let max_backoff = match is_served(&response) {
                Some(true) => {
                    if self.set(Availability::Served) == Availability::Missing {
                        tracing::info!(controllers = waiting.join(","), "{GROUP_VERSION} resources are available now");
                    }
                    return true;
                }
                Some(false) => {
                    if self.set(Availability::Missing) != Availability::Missing {
                        backoff = INITIAL_BACKOFF;
                        for name in waiting {
                            tracing::warn!(
                                "Not starting {name} since {GROUP_VERSION} resources are not available, retrying"
                            );
                        }
                    }
                    MAX_BACKOFF_IF_MISSING
                }
                None => {
                    if let Err(error) = response {
                        tracing::warn!(
                            err = %error.display_full(),
                            "Discovery of discovery.k8s.io/v1 failed, retrying"
                        );
                    }
                    MAX_BACKOFF_ON_ERROR
                }
            };
            backoff = backoff.min(max_backoff);
            let wait = async {
                tokio::select! {
                    biased;
                    () = recovery => {}
                    () = tokio::time::sleep(backoff) => {}
                }
            };
            if stop.run_until_cancelled(wait).await.is_none() {
                return false;
            }
            backoff *= 2;
        }
    }

    /// Sets state and gauge; returns the previous state.
    fn set(&self, availability: Availability) -> Availability {
        if let Some(gauge) = &self.gauge {
            gauge.with_label_values(&[GROUP_VERSION, RESOURCE]).set((availability == Availability::Served).into());
        }
        self.state.send_replace(availability)
    }
}

/// Returns whether EndpointSlices are served, by an answer to the discovery request; `None` if the answer is
/// inconclusive.
fn is_served(response: &Result<Value, Error>) -> Option<bool> {
    match response {
        Ok(list) => {
            let mut resources = list["resources"].as_array()?.iter();
            Some(resources.any(|it| it["name"] == RESOURCE))
        }
        Err(error) if error.is_not_found() => Some(false),
        // An identity that may not read discovery may still list and write slices; if not, those requests report it.
        Err(error) if error.is_forbidden() => Some(true),
        Err(_) => None,
    }
}
