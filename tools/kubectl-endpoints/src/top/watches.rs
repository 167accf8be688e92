//! Informers of Services, Pods and EndpointSlices.

use std::time::Duration;

use kube_controller_client::{Client, Error, ListParams};
use kube_endpoint_model::{EndpointSlice, Interner, Pod, Service};
use kube_informer::{CacheState, Event, Informer, RestoreSignal};
use kube_wire::Decode;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::TopOptions;
use super::duration::short;
use super::model::{Model, Moment};

/// Time without events and bookmarks after which the view counts as outdated. The API server sends a bookmark every
/// minute.
const IDLE_LIMIT: Duration = Duration::from_secs(90);

/// Event of an informer.
#[derive(Debug)]
pub(crate) enum Observed {
    /// Event of a Service.
    Service(Event<Service>),
    /// Event of a Pod.
    Pod(Event<Pod>),
    /// Event of an EndpointSlice.
    Slice(Event<EndpointSlice>),
}

impl Observed {
    /// Applies the event to the model.
    pub(crate) fn apply(&self, model: &mut Model, at: Moment) {
        match self {
            Observed::Service(event) => model.service(event, at),
            Observed::Pod(event) => model.pod(event, at),
            Observed::Slice(event) => model.slice(event, at),
        }
    }
}

/// Clock of the view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
}

impl Clock {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self { started: Instant::now() }
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.started.elapsed()
    }

    fn now(self) -> Moment {
        Moment { elapsed: self.elapsed(), utc: kube_ambient::now() }
    }
}

/// Sends one list request for each kind, so that missing permissions and an unreachable API server are reported before
/// the screen is opened. Informers retry without limit.
pub(crate) async fn check_access(client: &Client, options: &TopOptions) -> Result<(), Error> {
    let params = |selector: Option<&String>| ListParams {
        label_selector: selector.cloned(),
        limit: Some(1),
        ..ListParams::default()
    };
    let namespace = options.namespace.as_deref();
    client.list(&Service::RESOURCE, namespace, &params(options.selector.as_ref())).await?;
    client.list(&Pod::RESOURCE, namespace, &params(None)).await?;
    client.list(&EndpointSlice::RESOURCE, namespace, &params(None)).await?;
    Ok(())
}

/// The informers.
#[derive(Debug)]
pub(crate) struct Watches {
    services: Informer<Service>,
    pods: Informer<Pod>,
    slices: Informer<EndpointSlice>,
}

impl Watches {
    /// Returns the informers, which send their events to `events`.
    pub(crate) fn new(
        client: &Client,
        options: &TopOptions,
        clock: Clock,
        events: &UnboundedSender<(Moment, Observed)>,
    ) -> Self {
        let client = client.decoding_in(Interner::default());
        let restores = RestoreSignal::default();
        let scope = Scope { client: &client, namespace: options.namespace.as_deref(), restores: &restores };
        let sender = |events: &UnboundedSender<_>| {
            let events = events.clone();
            // The receiver is dropped only when the view ends.
            move |event| drop(events.send((clock.now(), event)))
        };
        let services = scope.informer(options.selector.as_deref());
        let (pods, slices) = (scope.informer(None), scope.informer(None));
        let send = sender(events);
        services.add_handler(move |event| send(Observed::Service(event)));
        let send = sender(events);
        pods.add_handler(move |event| send(Observed::Pod(event)));
        let send = sender(events);
        slices.add_handler(move |event| send(Observed::Slice(event)));
        Self { services, pods, slices }
    }

    /// Starts the informers.
    pub(crate) fn spawn(&self, tasks: &mut JoinSet<()>, stop: &CancellationToken) {
        tasks.spawn(self.services.run(stop.clone()));
        tasks.spawn(self.pods.run(stop.clone()));
        tasks.spawn(self.slices.run(stop.clone()));
    }

    /// Returns the kinds whose initial list is not complete, or for how long a cache has not advanced; empty if all are
    /// synced and current.
    pub(crate) fn state(&self, now: Instant) -> String {
        let states = [
            ("Services", self.services.progress().at(now)),
            ("Pods", self.pods.progress().at(now)),
            ("EndpointSlices", self.slices.progress().at(now)),
        ];
        let is_loading = |state: &CacheState| matches!(state, CacheState::NotStarted | CacheState::Syncing { .. });
        let loading = states.iter().filter(|(_, state)| is_loading(state));
        let loading: Vec<_> = loading.map(|(kind, _)| *kind).collect();
        if !loading.is_empty() {
            return format!("loading {}", loading.join(", "));
        }
        let idle = |(kind, state)| match state {
            CacheState::Synced { idle } if idle > IDLE_LIMIT => Some((idle, kind)),
            _ => None,
        };
        let oldest = states.into_iter().filter_map(idle).max();
        oldest.map_or_else(String::new, |(idle, kind)| format!("{kind} not updated for {}", short(idle)))
    }
}

/// What the informers have in common.
struct Scope<'a> {
    client: &'a Client,
    namespace: Option<&'a str>,
    restores: &'a RestoreSignal,
}

impl Scope<'_> {
    fn informer<T: Decode>(&self, selector: Option<&str>) -> Informer<T> {
        let mut builder = Informer::builder(self.client.clone()).restores(self.restores.clone());
        if let Some(namespace) = self.namespace {
            builder = builder.namespace(namespace);
        }
        if let Some(selector) = selector {
            builder = builder.label_selector(selector);
        }
        builder.build()
    }
}
