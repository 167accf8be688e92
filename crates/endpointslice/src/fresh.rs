//! Slices of a Service that a sync may rely on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kube_controller::Freshness;
use kube_controller_client::{Client, Error, ListParams};
use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_wire::{Decode, DecodeError, decode_list};

use crate::tracker::SliceTracker;

/// What is known of the slices of a Service.
#[derive(Debug)]
pub enum Slices {
    /// They show every write of this controller.
    Fresh(Vec<Arc<EndpointSlice>>),
    /// The cache has been out of date for too long, and these were read from the server.
    Repaired(Vec<Arc<EndpointSlice>>),
    /// They do not yet. An event of a slice will wake the Service; come back after this time if none does.
    Stale(Duration),
}

/// Why the slices of a Service could not be read from the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveReadError {
    /// The server did not answer, or refused.
    #[error("cannot list the EndpointSlices of Service {service} while the cache is out of date: {source}")]
    List {
        /// The Service.
        service: ObjectKey,
        /// What the server said.
        source: Error,
    },
    /// The answer could not be read.
    #[error("cannot read the EndpointSlices of Service {service} while the cache is out of date: {source}")]
    Decode {
        /// The Service.
        service: ObjectKey,
        /// What is wrong with the answer.
        source: DecodeError,
    },
}

/// The slices of a Service that `controller` manages, from the cache through `read`, or, when the cache has been out of
/// date for too long, from the server. `keep` says which of the latter count, as `read` does for the cache.
pub async fn fresh_slices(
    client: &Client,
    tracker: &SliceTracker,
    service: &ObjectKey,
    controller: &str,
    read: impl Fn() -> Vec<Arc<EndpointSlice>>,
    keep: fn(&EndpointSlice) -> bool,
    now: Instant,
) -> Result<Slices, LiveReadError> {
    let check = |slices: &[Arc<EndpointSlice>]| tracker.check(service, slices.iter().map(|slice| &**slice), now);
    let mut slices = read();
    let mut freshness = check(&slices);
    if matches!(freshness, Freshness::Stale { .. }) {
        // The event that would have woken this Service may have come just before the tracker knew that it waits.
        slices = read();
        freshness = check(&slices);
    }
    match freshness {
        Freshness::Fresh => Ok(Slices::Fresh(slices)),
        Freshness::Stale { wait } => Ok(Slices::Stale(wait)),
        Freshness::Overdue => {
            tracing::warn!(%service, "EndpointSlice informer cache stays out of date, reading from the server");
            let slices: Vec<_> = live(client, service, controller).await?.into_iter().filter(keep).collect();
            tracker.reset(service, &slices);
            Ok(Slices::Repaired(slices.into_iter().map(Arc::new).collect()))
        }
    }
}

/// The slices of a Service that `controller` manages, from the server.
pub(crate) async fn live(
    client: &Client,
    service: &ObjectKey,
    controller: &str,
) -> Result<Vec<EndpointSlice>, LiveReadError> {
    let selector = format!("{SERVICE_NAME_LABEL}={},{SLICE_MANAGED_BY_LABEL}={controller}", service.name);
    let params = ListParams { label_selector: Some(selector), ..ListParams::default() };
    let bytes = client
        .list(&EndpointSlice::RESOURCE, Some(&service.namespace), &params)
        .await
        .map_err(|source| LiveReadError::List { service: service.clone(), source })?;
    let list = decode_list(&bytes).map_err(|source| LiveReadError::Decode { service: service.clone(), source })?;
    Ok(list.items)
}
