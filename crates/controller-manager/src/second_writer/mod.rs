//! Detection of another controller that writes the same objects.
//!
//! The informers deliver the writes of other clients ([`HandlerOptions::foreign_writes`]). The field manager of each is
//! read from the object. The [`Detector`] counts them and decides whether there is a second writer, which log, metrics and
//! an event about the Lease report. The controllers write on.

mod change;
mod detector;
mod manager;
mod metrics;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kube_controller_client::Client;
use kube_controller_client::events::EventType;
use kube_endpoint_model::{EndpointSlice, Endpoints, Service, ServiceIndex, SliceIndex};
use kube_informer::{Event, HandlerOptions, Index, Informer, Lister};
use kube_wire::ResourceVersion;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use self::change::{Change, Managed, Owner, change};
use self::detector::{Detector, Object};
use self::manager::read_manager;
pub(crate) use self::metrics::SecondWriterMetrics;
use crate::caches::Caches;
use crate::controllers::Controllers;
use crate::leader::Leading;

/// Rate limit of the requests for field managers, in requests per second and as a burst.
pub(crate) const REQUESTS_PER_SECOND: u16 = 5;
/// Maximum number of writes that wait for the request of their field manager. The manager of further ones is unknown.
const MAX_QUEUED: usize = 20;
/// Time after which a deleted object counts if its owner still exists: the garbage collector deletes it after its
/// owner, but the two watches are not in step, and the content of a deleted namespace is deleted in any order.
const DELETION_DELAY: Duration = Duration::from_secs(30);
/// Documentation for the warning.
const HELP: &str =
    "https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/troubleshooting.md#a-second-writer";

/// Watches the writes of other clients to the objects of the controllers.
pub(crate) struct SecondWriter {
    client: Client,
    services: Lister<Service, ServiceIndex>,
    endpoints: Informer<Endpoints>,
    slices: Informer<EndpointSlice, SliceIndex>,
    controllers: Controllers,
    metrics: Option<SecondWriterMetrics>,
    /// `None` without leader election: no event is recorded.
    leading: Option<Leading>,
}

/// A write by another client, for the detector.
enum Found {
    /// The manager is `None` if it is unknown.
    Written {
        object: Object,
        manager: Option<String>,
        at: Instant,
    },
    Deleted {
        object: Object,
        owner: Owner,
        at: Instant,
    },
}

/// A write whose field manager is to be read.
struct Unattributed {
    object: Object,
    version: ResourceVersion,
    at: Instant,
}

impl SecondWriter {
    /// `client` reads the field managers, with a limit of [`REQUESTS_PER_SECOND`].
    pub(crate) fn new(
        client: Client,
        caches: &Caches,
        controllers: Controllers,
        metrics: Option<SecondWriterMetrics>,
        leading: Option<Leading>,
    ) -> SecondWriter {
        let services = caches.services.lister();
        let (endpoints, slices) = (caches.endpoints.clone(), caches.slices.clone());
        SecondWriter { client, services, endpoints, slices, controllers, metrics, leading }
    }

    /// Adds handlers, and returns the task, which runs until `stop` is cancelled. Call it before the controllers start:
    /// handlers know the own writes that begin after they are added. Writes count from the end of `caught_up` on: earlier
    /// ones are those of the process that led before.
    pub(crate) fn run(
        self,
        caught_up: impl Future<Output = ()> + Send + 'static,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send {
        let (found, to_judge) = mpsc::unbounded_channel();
        let (queue, to_attribute) = mpsc::channel(MAX_QUEUED);
        let of_endpoints = self.observe(&self.endpoints, &queue, &found);
        let of_slices = self.observe(&self.slices, &queue, &found);
        async move {
            let work = async {
                caught_up.await;
                // Neither is set before.
                let _ = of_endpoints.set(self.endpoints.lister().last_resource_version());
                let _ = of_slices.set(self.slices.lister().last_resource_version());
                tokio::select! {
                    biased;
                    never = self.attribute(to_attribute, &found) => match never {},
                    never = self.judge(to_judge) => match never {},
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                never = Box::pin(work) => match never {},
            }
        }
    }

    /// Adds a handler, and returns the version after which writes count. None counts before it is set.
    fn observe<T: Managed, X: Index<T>>(
        &self,
        informer: &Informer<T, X>,
        queue: &Sender<Unattributed>,
        found: &UnboundedSender<Found>,
    ) -> Arc<OnceLock<ResourceVersion>> {
        let options = HandlerOptions::named("second-writer").foreign_writes();
        let (queue, found, controllers) = (queue.clone(), found.clone(), self.controllers.clone());
        let (begin, lister) = (Arc::new(OnceLock::new()), informer.lister());
        let counted = Arc::clone(&begin);
        informer.add_handler_with(options, move |event| {
            let Some(begin) = begin.get() else { return };
            if is_earlier(&event, begin, &lister.last_resource_version()) {
                return;
            }
            let at = Instant::now();
            // Sending fails only if the task has ended.
            let _ = match change(&event, &controllers) {
                None => Ok(()),
                Some(Change::Deleted(object, owner)) => found.send(Found::Deleted { object, owner, at }),
                Some(Change::Written(object, version)) => match queue.try_send(Unattributed { object, version, at }) {
                    Ok(()) => Ok(()),
                    Err(full) => {
                        let Unattributed { object, at, .. } = full.into_inner();
                        found.send(Found::Written { object, manager: None, at })
                    }
                },
            };
        });
        counted
    }

    async fn attribute(&self, mut queue: Receiver<Unattributed>, found: &UnboundedSender<Found>) -> Infallible {
        while let Some(Unattributed { object, version, at }) = queue.recv().await {
            let manager = read_manager(&self.client, &object, &version).await;
            let _ = found.send(Found::Written { object, manager, at });
        }
        std::future::pending().await
    }

    async fn judge(&self, mut found: UnboundedReceiver<Found>) -> Infallible {
        let mut detector = Detector::default();
        let (mut deletions, mut was_second_writer) = (VecDeque::new(), false);
        loop {
            let deletion = deletions.front().map(|(_, _, at)| *at + DELETION_DELAY);
            let due = detector.due().into_iter().chain(deletion).min();
            tokio::select! {
                biased;
                Some(found) = found.recv() => match found {
                    Found::Written { object, manager, at } => self.record(&mut detector, manager.as_deref(), object, at),
                    Found::Deleted { object, owner, at } => deletions.push_back((object, owner, at)),
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            }
            let now = Instant::now();
            while deletions.front().is_some_and(|(_, _, at)| *at + DELETION_DELAY <= now)
                && let Some((object, owner, at)) = deletions.pop_front()
            {
                if self.exists(&owner) {
                    self.record(&mut detector, None, object, at);
                }
            }
            detector.advance(now);
            self.report(&mut detector, now);
            if !std::mem::replace(&mut was_second_writer, detector.is_second_writer()) {
                self.record_event(&detector);
            }
        }
    }

    fn record(&self, detector: &mut Detector, manager: Option<&str>, object: Object, at: Instant) {
        let resource = object.resource;
        let label = detector.record(manager, object, at);
        if let Some(metrics) = &self.metrics {
            metrics.foreign_writes.with_label_values(&[resource, label]).inc();
        }
    }

    fn report(&self, detector: &mut Detector, now: Instant) {
        if let Some(metrics) = &self.metrics {
            metrics.second_writer.set(detector.is_second_writer().into());
        }
        if let Some(warning) = detector.take_warning(now) {
            let writes: Vec<String> = warning.writes.iter().map(|(name, count)| format!("{name}: {count}")).collect();
            tracing::warn!(
                managers = writes.join(", "),
                object = %warning.example,
                help = HELP,
                "Another client writes objects of these controllers. If it is a controller, disable it or this program"
            );
        }
    }

    /// Records an event about the Lease if there is a second writer.
    fn record_event(&self, detector: &Detector) {
        let (Some(Leading { fence, recorder }), true) = (&self.leading, detector.is_second_writer()) else {
            return;
        };
        let managers: Vec<&str> = detector.second_writers().iter().map(String::as_str).collect();
        let managers = managers.join(", ");
        let message =
            format!("Another controller writes the same Endpoints and EndpointSlices: {managers}. See {HELP}");
        recorder.event(&fence.lease(), EventType::Warning, "SecondWriter", message);
    }

    /// Returns whether the owner of a deleted object exists and is not being deleted.
    fn exists(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Service(key, uid) => self
                .services
                .get(&key.namespace, &key.name)
                .is_some_and(|service| !service.terminating && uid.as_ref().is_none_or(|uid| *uid == service.uid)),
            Owner::Endpoints(key, uid) => {
                let endpoints = self.endpoints.lister().get(&key.namespace, &key.name);
                endpoints.is_some_and(|it| it.metadata.deletion_timestamp.is_none() && it.metadata.uid == *uid)
            }
        }
    }
}

/// Returns whether an event was stored at the version `begin` already, and has waited in the queue of the handler since.
/// `latest` is the last version of the store.
fn is_earlier<T: Managed>(event: &Event<T>, begin: &ResourceVersion, latest: &ResourceVersion) -> bool {
    // The version of a tombstone is not that of the deletion, and versions begin anew when the server is restored.
    let is_comparable = !matches!(event, Event::Deleted { tombstone: true, .. }) && latest >= begin;
    is_comparable && event.object().resource_version() <= *begin
}

#[cfg(test)]
mod tests;
