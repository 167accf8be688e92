//! The [`EventWriter`].

use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference as ApiReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use serde_json::json;
use tokio::{sync::mpsc, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    RecordedEvent,
    correlate::{Correlator, EventWrite},
};
use crate::{Client, Error};

/// Maximum number of attempts to write an event, and the delay between them (client-go: `maxTriesPerEvent`,
/// `defaultSleepDuration`).
const MAX_ATTEMPTS: u32 = 12;
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Task that writes the events of an [`EventRecorder`](super::EventRecorder) to the API server, started by
/// [`run`](Self::run).
#[derive(Debug)]
#[must_use = "events are not written until `run` is called"]
pub struct EventWriter {
    client: Client,
    component: String,
    queue: mpsc::Receiver<RecordedEvent>,
    correlator: Correlator,
}

impl EventWriter {
    pub(super) fn new(client: Client, component: &str, queue: mpsc::Receiver<RecordedEvent>) -> Self {
        Self { client, component: component.to_owned(), queue, correlator: Correlator::new() }
    }

    /// Writes events until all recorders are dropped and the queue is empty. Returns at once if `stop` is cancelled,
    /// and drops the queued events: shutdown must not wait for events.
    ///
    /// Requires the rights `create` and `patch` on Events. A write that fails with a transport error is tried up to 12
    /// times, 10 s apart; after any other error it is logged and dropped.
    pub async fn run(mut self, stop: CancellationToken) {
        let _ = stop.run_until_cancelled(self.write_all()).await;
    }

    async fn write_all(&mut self) {
        while let Some(event) = self.queue.recv().await {
            if let Some(write) = self.correlator.correlate(event) {
                self.write(&write).await;
            }
        }
    }

    /// Writes one event. While the server is unreachable it is retried up to [`MAX_ATTEMPTS`] times, which blocks later
    /// events.
    async fn write(&self, write: &EventWrite) {
        for attempt in 1..=MAX_ATTEMPTS {
            let Err(error) = self.try_write(write).await else { return };
            if !matches!(error, Error::Transport { .. }) {
                // As in client-go, only transport errors are retried.
                if error.is_already_exists() || error.is_namespace_terminating() {
                    tracing::debug!(
                        event = write.name, err = %error.display_full(),
                        "Cannot write event, not retrying"
                    );
                } else {
                    tracing::warn!(event = write.name, err = %error.display_full(), "Cannot write event, not retrying");
                }
                return;
            }
            tracing::warn!(event = write.name, attempt, err = %error.display_full(), "Cannot write event");
            if attempt < MAX_ATTEMPTS {
                // The first delay is random, so that clients do not retry in step after an outage.
                sleep(if attempt == 1 { RETRY_DELAY.mul_f64(kube_ambient::random()) } else { RETRY_DELAY }).await;
            }
        }
        tracing::error!(event = write.name, "Event dropped, retry limit exceeded");
    }

    async fn try_write(&self, write: &EventWrite) -> Result<(), Error> {
        if write.count > 1 {
            let namespace = write.event.object.event_namespace();
            let patch = json!({
                "count": write.count,
                "lastTimestamp": Time(write.event.at),
                "message": write.event.message,
            });
            match self.client.merge_patch::<Event>(namespace, &write.name, None, &patch).await {
                // The Event has expired (kube-apiserver `--event-ttl`, 1 h by default): create it again.
                Err(error) if error.is_not_found() => {}
                result => return result,
            }
        }
        self.client.create(&self.api_event(write)).await.map(drop)
    }

    fn api_event(&self, write: &EventWrite) -> Event {
        let EventWrite { event, name, count, first_timestamp } = write;
        let RecordedEvent { object, event_type, reason, message, at } = event;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Event {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                namespace: Some(object.event_namespace().to_owned()),
                ..ObjectMeta::default()
            },
            involved_object: ApiReference {
                api_version: some(&object.api_version),
                kind: some(&object.kind),
                namespace: some(&object.namespace),
                name: some(&object.name),
                uid: some(&object.uid.to_string()),
                resource_version: some(&object.resource_version.to_string()),
                field_path: None,
            },
            type_: Some(event_type.as_str().to_owned()),
            reason: Some(reason.clone()),
            message: Some(message.clone()),
            count: Some(*count),
            first_timestamp: Some(Time(*first_timestamp)),
            last_timestamp: Some(Time(*at)),
            source: Some(EventSource { component: Some(self.component.clone()), host: None }),
            reporting_component: Some(self.component.clone()),
            ..Event::default()
        }
    }
}
