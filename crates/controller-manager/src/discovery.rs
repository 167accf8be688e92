//! Whether the API server serves EndpointSlices.
//!
//! Without them, the slice controllers cannot work. Upstream's `startEndpointSliceController` does not ask: the informers fail
//! with 404 and try again for ever. (Versions before asked once, with `AvailableResources`, and never started the controllers if
//! the answer was no.) Here the cache of slices waits instead, so that a server which does not have them is not asked to list
//! them, and `/readyz` gives the reason. The other caches and the Endpoints controller do not wait.

use std::time::Duration;

use kube_controller_client::{Client, Error};
use prometheus::IntGaugeVec;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The API version the slice controllers write.
pub(crate) const GROUP_VERSION: &str = "discovery.k8s.io/v1";
/// The resource they write.
pub(crate) const RESOURCE: &str = "endpointslices";
const PATH: &str = "/apis/discovery.k8s.io/v1";
/// The first pause between two requests; it doubles.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause while the API server cannot be asked.
const LONGEST_AWAY: Duration = Duration::from_secs(2);
/// The longest pause while it answers that it does not serve EndpointSlices.
const LONGEST_MISSING: Duration = Duration::from_secs(30);

/// What is known of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Availability {
    /// The API server has not answered yet.
    Unknown,
    /// It does not serve EndpointSlices.
    Missing,
    /// It does. This is final.
    Served,
}

/// The availability of EndpointSlices, as last discovered. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct SliceApi {
    state: watch::Sender<Availability>,
    gauge: Option<IntGaugeVec>,
}

impl SliceApi {
    /// `gauge`, labelled with API version and resource, becomes 1 when EndpointSlices are served and 0 while they are not. It
    /// has no such series before the API server has answered.
    pub(crate) fn new(gauge: Option<IntGaugeVec>) -> SliceApi {
        SliceApi { state: watch::Sender::new(Availability::Unknown), gauge }
    }

    /// The reason for which the slice controllers cannot work, if there is one.
    pub(crate) fn missing(&self) -> Result<(), String> {
        match *self.state.borrow() {
            Availability::Unknown => Err("the API server has not been reached yet".to_owned()),
            Availability::Missing => Err(format!("the API server does not serve {RESOURCE} of {GROUP_VERSION}")),
            Availability::Served => Ok(()),
        }
    }

    /// Asks until EndpointSlices are served. Returns `false` if `stop` is cancelled first.
    ///
    /// `waiting` are the controllers that are named in the log.
    pub(crate) async fn served(&self, client: &Client, waiting: &[&str], stop: &CancellationToken) -> bool {
        let mut pause = PAUSE;
        loop {
            let Some(answer) = stop.run_until_cancelled(client.get_json(PATH)).await else { return false };
            let longest = match served(&answer) {
                Some(true) => {
                    if self.set(Availability::Served) == Availability::Missing {
                        tracing::info!(controllers = ?waiting, "{GROUP_VERSION} resources are available now");
                    }
                    return true;
                }
                Some(false) => {
                    if self.set(Availability::Missing) != Availability::Missing {
                        pause = PAUSE;
                        for name in waiting {
                            tracing::warn!(
                                "Not starting {name} since {GROUP_VERSION} resources are not available, asking again"
                            );
                        }
                    }
                    LONGEST_MISSING
                }
                None => {
                    if let Err(err) = answer {
                        tracing::warn!(%err, "API server cannot be asked what it serves, waiting");
                    }
                    LONGEST_AWAY
                }
            };
            pause = pause.min(longest);
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return false;
            }
            pause *= 2;
        }
    }

    /// Sets what is known and returns what was known before.
    fn set(&self, now: Availability) -> Availability {
        if let Some(gauge) = &self.gauge {
            gauge.with_label_values(&[GROUP_VERSION, RESOURCE]).set((now == Availability::Served).into());
        }
        self.state.send_replace(now)
    }
}

/// What an answer of the API server means; `None` if it means neither.
fn served(answer: &Result<Value, Error>) -> Option<bool> {
    match answer {
        Ok(list) => {
            let mut resources = list["resources"].as_array()?.iter();
            Some(resources.any(|it| it["name"] == RESOURCE))
        }
        Err(error) if error.is_not_found() => Some(false),
        // A client that may not read discovery may still list and write slices; if not, those requests report it.
        Err(error) if error.is_forbidden() => Some(true),
        Err(_) => None,
    }
}
