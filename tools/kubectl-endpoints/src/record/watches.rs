//! The informers whose events are recorded.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::bail;
use jiff::Timestamp;
use kube_controller_client::{Accept, ListParams};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service, With};
use kube_endpoints_history::{Author, Gap, Kind, Recorded};
use kube_informer::{Event, HandlerHandle, Informer};
use kube_wire::{Decode, Object as _};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::author::LastAuthor;
use super::gaps::Gaps;
use crate::connection::{Connection, named};
use crate::fetch::missing;
use crate::output::warn;

/// What the writer records.
#[derive(Debug)]
pub(super) enum Message {
    /// An object exists, or has changed. `is_new` is false for a change.
    Put { seen: Timestamp, author: Option<Author>, object: Recorded, is_new: bool },
    /// An object was deleted.
    Removed { seen: Timestamp, kind: Kind, key: ObjectKey },
    /// Changes may have been missed.
    Gap { seen: Timestamp, gap: Gap },
}

/// Starts the informers of one recording.
pub(super) struct Watches<'a> {
    pub(super) connection: &'a Connection,
    /// Namespace; `None` for all.
    pub(super) namespace: Option<&'a str>,
    pub(super) messages: UnboundedSender<Message>,
    pub(super) tasks: &'a mut JoinSet<()>,
    pub(super) handlers: Vec<HandlerHandle>,
    /// Kinds that may not be listed, or are not served.
    pub(super) unknown: BTreeSet<Kind>,
}

impl Watches<'_> {
    /// Starts the informers of all kinds that can be listed. Prints a warning for each of the others.
    pub(super) async fn start(&mut self) -> anyhow::Result<()> {
        self.watch::<Service>(Kind::Service).await?;
        self.watch::<Pod>(Kind::Pod).await?;
        self.watch::<Node>(Kind::Node).await?;
        self.watch::<Endpoints>(Kind::Endpoints).await?;
        self.watch::<EndpointSlice>(Kind::EndpointSlice).await?;
        if self.handlers.is_empty() {
            bail!("nothing can be recorded");
        }
        Ok(())
    }

    async fn watch<T>(&mut self, kind: Kind) -> anyhow::Result<()>
    where
        T: Decode + Clone,
        Recorded: From<Arc<T>>,
    {
        if let Some(warning) = self.cannot_list::<T>().await? {
            warn(warning);
            self.unknown.insert(kind);
            return Ok(());
        }
        let mut builder = Informer::<With<T, LastAuthor>>::builder(self.connection.client.clone());
        if let Some(namespace) = self.namespace.filter(|_| T::RESOURCE.namespaced) {
            builder = builder.namespace(namespace);
        }
        let informer = builder.metrics(Gaps { messages: self.messages.clone() }).build();
        let messages = self.messages.clone();
        let handler = informer.add_handler(move |event| {
            if let Some(message) = message(kind, &event, kube_ambient::now()) {
                // The recording may have ended.
                let _ = messages.send(message);
            }
        });
        self.handlers.push(handler.named(T::RESOURCE.plural));
        // The tasks are aborted when the set is dropped.
        self.tasks.spawn(informer.run(CancellationToken::new()));
        Ok(())
    }

    /// Returns the message about a kind that cannot be listed.
    async fn cannot_list<T: Decode>(&self) -> anyhow::Result<Option<String>> {
        let client = &self.connection.client;
        let params =
            ListParams { limit: Some(1), accept: Accept::of::<T>(client.content_type()), ..ListParams::default() };
        let namespace = self.namespace.filter(|_| T::RESOURCE.namespaced);
        match client.list_chunks(&T::RESOURCE, namespace, &params).await {
            Ok(_) => Ok(None),
            Err(error) => missing::<T>(&error).map(Some).ok_or_else(|| named(error)),
        }
    }
}

/// Returns what an event changes; `None` for an unchanged object.
fn message<T>(kind: Kind, event: &Event<With<T, LastAuthor>>, seen: Timestamp) -> Option<Message>
where
    T: Decode + Clone,
    Recorded: From<Arc<T>>,
{
    match event {
        Event::Deleted { object, .. } => Some(Message::Removed { seen, kind, key: object.key() }),
        Event::Updated { .. } if !event.is_change() => None,
        Event::Added { object, .. } | Event::Updated { new: object, .. } => {
            let (author, object) = (object.part.0.clone(), Arc::new(object.object.clone()).into());
            Some(Message::Put { seen, author, object, is_new: matches!(event, Event::Added { .. }) })
        }
    }
}
