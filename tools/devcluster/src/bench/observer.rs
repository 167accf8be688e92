//! Observer of slices: records when an endpoint changes its readiness, with a watch like that of kube-proxy.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kube_controller_client::{Client, ListParams};
use kube_dev_apiserver::Population;
use kube_endpoint_model::EndpointSlice;
use kube_informer::{Event, Informer, wait_for_sync};
use kube_wire::{Decode as _, decode_list};
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::flips::Flip;

/// Maximum number of slices in a page of a list.
const PAGE: u32 = 2_000;

/// Running informer of EndpointSlices with a record of readiness changes. Dropping this stops the informer.
#[derive(Debug)]
pub(crate) struct Observer {
    observed: Arc<Mutex<Vec<(String, bool, Instant)>>>,
    _informer: JoinSet<()>,
}

impl Observer {
    /// Starts the informer and waits until it is synced, at most 60 s.
    pub(crate) async fn start(client: &Client) -> anyhow::Result<Self> {
        let observed = Arc::<Mutex<Vec<(String, bool, Instant)>>>::default();
        let informer = Informer::<EndpointSlice>::builder(client.clone()).build();
        let record = Arc::clone(&observed);
        let handler = informer.add_handler(move |event| {
            let at = Instant::now();
            if let Event::Updated { old, new, .. } = event {
                let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
                record.extend(changes(&old, &new).map(|(pod, ready)| (pod.to_owned(), ready, at)));
            }
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(informer.run(CancellationToken::new()));
        wait_for_sync([&handler], Duration::from_secs(60)).await?;
        Ok(Self { observed, _informer: tasks })
    }

    /// Returns the recorded changes of `pods`, in the order in which they were observed.
    pub(crate) fn changes(&self, population: Population, pods: impl Iterator<Item = usize>) -> Vec<(Flip, Instant)> {
        let names: HashMap<String, usize> = pods.map(|pod| (population.pod_name(pod), pod)).collect();
        let observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        let flip =
            |(name, ready, at): &(String, bool, Instant)| Some((Flip { pod: *names.get(name)?, ready: *ready }, *at));
        observed.iter().filter_map(flip).collect()
    }
}

/// Returns the Pods whose readiness differs between two states of a slice, with the new readiness.
fn changes<'a>(old: &'a EndpointSlice, new: &'a EndpointSlice) -> impl Iterator<Item = (&'a str, bool)> {
    let state = |slice: &'a EndpointSlice| {
        slice.endpoints.iter().filter_map(|it| Some((it.target_ref.as_ref()?.name().as_str(), it.is_ready())))
    };
    let before: HashMap<&str, bool> = state(old).collect();
    state(new).filter(move |(pod, ready)| before.get(pod).is_some_and(|before| before != ready))
}

/// Returns the number of endpoints in all slices, and how many of them are ready.
pub(crate) async fn endpoints(client: &Client) -> anyhow::Result<(usize, usize)> {
    let (mut all, mut ready) = (0, 0);
    let mut params = ListParams { limit: Some(PAGE), ..ListParams::default() };
    loop {
        let page = client.list(&EndpointSlice::RESOURCE, None, &params).await?;
        let page = decode_list::<EndpointSlice>(&page)?;
        for endpoint in page.items.iter().flat_map(|slice| &slice.endpoints) {
            all += 1;
            ready += usize::from(endpoint.is_ready());
        }
        params.continue_token = page.meta.continue_token;
        if params.continue_token.is_none() {
            return Ok((all, ready));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(pods: &[(&str, bool)]) -> EndpointSlice {
        let endpoint = |(name, ready): &(&str, bool)| {
            serde_json::json!({"addresses": ["10.0.0.1"], "conditions": {"ready": ready},
                "targetRef": {"kind": "Pod", "name": name, "namespace": "a"}})
        };
        let endpoints: Vec<_> = pods.iter().map(endpoint).collect();
        serde_json::from_value(serde_json::json!({"addressType": "IPv4", "endpoints": endpoints})).unwrap()
    }

    #[test]
    fn only_readiness_changes_are_recorded() {
        let (old, new) = (slice(&[("a", true), ("b", true)]), slice(&[("b", false), ("a", true), ("c", true)]));
        assert_eq!(changes(&old, &new).collect::<Vec<_>>(), [("b", false)]);
    }
}
