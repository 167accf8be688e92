//! Where notes become Events.

use std::time::Duration;

use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference as ApiReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use serde_json::json;
use tokio::{sync::mpsc, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    Note,
    correlate::{Correlator, Entry},
};
use crate::{Client, Error};

/// How often one event is tried, and how long after the other.
const ATTEMPTS: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

/// Writes what an [`EventRecorder`](super::EventRecorder) takes down.
#[derive(Debug)]
#[must_use = "nothing is written unless it runs"]
pub struct EventWriter {
    client: Client,
    component: String,
    queue: mpsc::Receiver<Note>,
    correlator: Correlator,
}

impl EventWriter {
    pub(super) fn new(client: Client, component: &str, queue: mpsc::Receiver<Note>) -> Self {
        Self { client, component: component.to_owned(), queue, correlator: Correlator::new() }
    }

    /// Writes until all recorders are gone and their notes are written. When `stop` is cancelled it ends at once, and what is
    /// still waiting is lost: a shutdown must not wait for events.
    pub async fn run(mut self, stop: CancellationToken) {
        let _ = stop.run_until_cancelled(self.write_all()).await;
    }

    async fn write_all(&mut self) {
        while let Some(note) = self.queue.recv().await {
            if let Some(entry) = self.correlator.correlate(note) {
                self.write(&entry).await;
            }
        }
    }

    /// Writes one event; when the server is away, everything waits for it for a while.
    async fn write(&self, entry: &Entry) {
        for attempt in 1..=ATTEMPTS {
            let Err(error) = self.try_write(entry).await else { return };
            if !matches!(error, Error::Transport { .. }) {
                // The server has seen the event and does not want it; asking again would change nothing.
                if error.is_already_exists() || error.is_namespace_terminating() {
                    tracing::debug!(event = entry.name, err = %error, "event refused");
                } else {
                    tracing::warn!(event = entry.name, err = %error, "event refused");
                }
                return;
            }
            tracing::warn!(event = entry.name, attempt, err = %error, "cannot write event");
            if attempt < ATTEMPTS {
                // The first pause is random, so that many clients do not all come back together.
                sleep(if attempt == 1 { PAUSE.mul_f64(kube_ambient::random()) } else { PAUSE }).await;
            }
        }
        tracing::error!(event = entry.name, "event dropped, the server cannot be reached");
    }

    async fn try_write(&self, entry: &Entry) -> Result<(), Error> {
        if entry.count > 1 {
            let namespace = entry.note.about.event_namespace();
            let patch = json!({
                "count": entry.count,
                "lastTimestamp": Time(entry.note.at),
                "message": entry.note.message,
            });
            match self.client.merge_patch::<Event>(namespace, &entry.name, None, &patch).await {
                // It has expired: events live for an hour.
                Err(error) if error.is_not_found() => {}
                result => return result.map(drop),
            }
        }
        self.client.create(&self.event(entry)).await.map(drop)
    }

    fn event(&self, entry: &Entry) -> Event {
        let Entry { note, name, count, first } = entry;
        let Note { about, event_type, reason, message, at } = note;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Event {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                namespace: Some(about.event_namespace().to_owned()),
                ..ObjectMeta::default()
            },
            involved_object: ApiReference {
                api_version: some(&about.api_version),
                kind: some(&about.kind),
                namespace: some(&about.namespace),
                name: some(&about.name),
                uid: some(&about.uid),
                resource_version: some(&about.resource_version),
                field_path: None,
            },
            type_: Some(event_type.as_str().to_owned()),
            reason: Some(reason.clone()),
            message: Some(message.clone()),
            count: Some(*count),
            first_timestamp: Some(Time(*first)),
            last_timestamp: Some(Time(*at)),
            source: Some(EventSource { component: Some(self.component.clone()), host: None }),
            reporting_component: Some(self.component.clone()),
            ..Event::default()
        }
    }
}
