//! The recorder of what the informers deliver.
//!
//! Handlers put the events into a bounded [queue](queue), which [`run`](History::run) empties once a second: on a thread for
//! blocking tasks, the messages are encoded and written. The controllers wait for none of it. If the queue overflows or a write
//! fails, the recording begins anew with the state of the caches, and the history has a gap. So it does when a kind appears
//! that could not be read before.

mod attempts;
mod metrics;
mod place;
mod queue;
mod recorded_caches;
mod recording;

use std::sync::Arc;
use std::time::Duration;

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_endpoints_history::recorder::{Authors, Gaps, Message};
use kube_endpoints_history::{Author, Kind, Recorded};
use kube_informer::{Event, HandlerOptions, Index, Informer};
use kube_wire::{Decode, Resource};
use tokio_util::sync::CancellationToken;

pub(crate) use self::metrics::HistoryMetrics;
pub(crate) use self::place::Place;
use self::queue::Queue;
use self::recorded_caches::{RecordedCache, RecordedCaches};
use self::recording::Recording;
use crate::caches::Caches;
use crate::controllers::Controllers;
use crate::settings::HistorySettings;
use crate::user_agent::PROGRAM;

/// Time for the last write after the stop, less than the grace period of the tasks of the process.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// What informers report besides events.
#[derive(Clone)]
pub(crate) struct Reports {
    /// The metrics provider that gets lists and watches.
    pub(crate) gaps: Gaps,
    /// The observer that gets the objects of watches.
    pub(crate) authors: Arc<Authors>,
}

/// The recorder, until it [runs](Self::run).
pub(crate) struct History {
    place: Place,
    queue: Arc<Queue>,
    metrics: Option<HistoryMetrics>,
    reports: Reports,
    /// Whether the process writes slices and Endpoints.
    writes: bool,
    caches: RecordedCaches,
    /// Kinds that no controller of the process reads.
    unknown: Vec<Kind>,
}

impl History {
    /// `writes` is whether the process writes slices and Endpoints.
    pub(crate) fn new(settings: &HistorySettings, writes: bool, metrics: Option<HistoryMetrics>) -> History {
        let (place, queue) = (Place::new(settings), Arc::new(Queue::default()));
        let to = Arc::clone(&queue);
        let reports = Reports { gaps: Gaps::new(move |gap| to.push(gap)), authors: Arc::new(Authors::default()) };
        let (caches, unknown) = (RecordedCaches::default(), Vec::new());
        History { place, queue, metrics, reports, writes, caches, unknown }
    }

    /// Returns where the history is.
    pub(crate) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Returns what informers report besides events.
    pub(crate) fn reports(&self) -> Reports {
        self.reports.clone()
    }

    /// Adds handlers to the caches that `controllers` read.
    pub(crate) fn follow(&mut self, caches: &Caches, controllers: &Controllers) {
        let Caches { services, pods, nodes, endpoints, slices, restores: _ } = caches;
        let reads = controllers.reads();
        self.follow_one::<Service, _>(Kind::Service, services, &reads);
        self.follow_one::<Pod, _>(Kind::Pod, pods, &reads);
        self.follow_one::<Node, _>(Kind::Node, nodes, &reads);
        self.follow_one::<Endpoints, _>(Kind::Endpoints, endpoints, &reads);
        self.follow_one::<EndpointSlice, _>(Kind::EndpointSlice, slices, &reads);
    }

    fn follow_one<T, X>(&mut self, kind: Kind, informer: &Informer<T, X>, reads: &[Resource])
    where
        T: Decode,
        X: Index<T>,
        Recorded: From<Arc<T>>,
    {
        if !reads.contains(&informer.resource()) {
            self.unknown.push(kind);
            return;
        }
        let (queue, authors) = (Arc::clone(&self.queue), Arc::clone(&self.reports.authors));
        let is_own = self.writes && [Kind::Endpoints, Kind::EndpointSlice].contains(&kind);
        let own = is_own.then(|| Author { manager: PROGRAM.into(), ..Author::default() });
        let handler = informer.add_handler_with(HandlerOptions::named("history"), move |event| {
            // The recording begins with the state of the cache.
            if let Event::Added { initial: true, .. } = event {
                return;
            }
            let is_listed = event.is_from_list();
            let recorded = |object: &Arc<T>| {
                let author = authors.take(&object.resource_version()).unwrap_or_else(|_| {
                    // The response to an own write, which no watch has delivered before.
                    own.clone().filter(|_| !is_listed)
                });
                (Recorded::from(Arc::clone(object)), author)
            };
            if let Some(message) = Message::of(&event, kube_ambient::now(), recorded) {
                queue.push(message);
            }
        });
        let (resource, lister) = (informer.resource().plural, informer.lister());
        let source = Box::new(move |each: &mut dyn FnMut(Recorded) -> _| {
            lister.list().into_iter().map(Recorded::from).try_for_each(each)
        });
        self.caches.0.push(RecordedCache { kind, resource, handler, source });
    }

    /// Records from the first lists on until `stop` is cancelled. Kinds that are not served, or may not be read, are recorded once
    /// they can be read.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let History { place, queue, metrics, reports: Reports { gaps, .. }, caches, unknown, .. } = self;
        if stop.run_until_cancelled(caches.listed()).await.is_some() {
            let recording = Recording { place, queue, gaps, metrics, caches: Arc::new(caches), unknown };
            let timeout = async {
                stop.cancelled().await;
                tokio::time::sleep(END_TIMEOUT).await;
            };
            tokio::select! {
                biased;
                () = recording.run(&stop) => {}
                () = timeout => tracing::warn!("The end of the history was not written within {END_TIMEOUT:?}"),
            }
        }
    }
}
