//! Builder of a reconciler.

use std::sync::{Arc, Mutex, OnceLock};

use kube_controller::KeyStates;
use kube_controller_client::ReviewedClient;
use kube_endpoint_model::{EndpointSlice, SliceIndex};
use kube_informer::{Informer, WriteThrough};
use kube_topology::TopologyCache;

use super::{EventSink, Reconciler};
use crate::metrics::SliceMetrics;
use crate::options::Options;

/// Builder of a [`Reconciler`].
#[must_use]
pub struct ReconcilerBuilder {
    reconciler: Reconciler,
}

impl ReconcilerBuilder {
    /// Enables hints by the CPU of the zones, for [`HintPolicy::Topology`](kube_topology::HintPolicy::Topology). Off by
    /// default; owners with that policy then have no hints.
    pub fn topology_cache(mut self, cache: TopologyCache) -> Self {
        self.reconciler.topology = Some(Mutex::new(cache));
        self
    }

    /// Sets whether [`HintPolicy::Traffic`](kube_topology::HintPolicy::Traffic) is supported; `true` by default. If not,
    /// owners with that policy have no hints.
    pub fn traffic_distribution(mut self, supported: bool) -> Self {
        self.reconciler.traffic_distribution = supported;
        self
    }

    /// Sets the receiver of Kubernetes Events about owners; events are dropped by default.
    ///
    /// Their reasons are `TopologyAwareHintsEnabled` and `TopologyAwareHintsDisabled`. A write that fails is an error of the
    /// call, without an Event.
    pub fn events(mut self, sink: impl EventSink + 'static) -> Self {
        self.reconciler.events = Box::new(sink);
        self
    }

    /// Sets the receiver of metrics; metrics are dropped by default.
    pub fn metrics(mut self, metrics: Arc<dyn SliceMetrics>) -> Self {
        self.reconciler.metrics = metrics;
        self
    }

    /// Sets the informer of slices, with the index [`Options::slice_index`]. [`Reconciler::existing_slices`] reads from
    /// it, and the responses to writes are stored in it.
    ///
    /// Pass the reconciler to `Controller::owns_slices` of `kube-controller-program` or to
    /// [`Owns::watch`](kube_controller::Owns::watch), so that the changes of slices by other clients are repaired.
    ///
    /// # Panics
    ///
    /// If the informer is indexed by another label than [`Options::owner_label`]: no slice would be found, and each sync
    /// would create new ones.
    pub fn slices(mut self, slices: &Informer<EndpointSlice, SliceIndex>) -> Self {
        let label = slices.lister().read(|_, index| index.label().to_owned());
        assert!(
            label == *self.reconciler.options.owner_label,
            "the slices are indexed by {label}, not by the owner label {}; use Options::slice_index",
            self.reconciler.options.owner_label
        );
        self.reconciler.slices = Some(slices.clone());
        self
    }

    /// Sets the cache that stores the responses to writes; responses are dropped by default. The caller passes the slices
    /// in the same cache to [`Input::new`](crate::Input::new). Without a cache, each sync has to read the existing slices
    /// with [`live_slices`](Reconciler::live_slices).
    pub fn cache(mut self, cache: WriteThrough<EndpointSlice>) -> Self {
        self.reconciler.cache = OnceLock::from(cache);
        self
    }

    /// Builds the reconciler. Sends no request.
    pub fn build(self) -> Reconciler {
        self.reconciler
    }
}

impl Reconciler {
    /// Returns the builder of a reconciler that writes with `client`, a [`Client`](kube_controller_client::Client) or one
    /// whose writes are [reviewed](kube_controller_client::Review).
    pub fn builder(client: impl Into<ReviewedClient<EndpointSlice>>, options: Options) -> ReconcilerBuilder {
        let reconciler = Reconciler {
            client: client.into(),
            options,
            slices: None,
            cache: OnceLock::new(),
            topology: None,
            traffic_distribution: true,
            events: Box::new(()),
            metrics: Arc::new(()),
            states: KeyStates::default(),
            sums: Mutex::default(),
        };
        ReconcilerBuilder { reconciler }
    }
}
