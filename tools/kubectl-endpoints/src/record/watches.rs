//! The informers whose events are recorded.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::bail;
use kube_controller_client::{Accept, ListParams};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_endpoints_history::recorder::{Gaps, Message};
use kube_endpoints_history::{Kind, Recorded};
use kube_informer::{HandlerHandle, Informer};
use kube_wire::Decode;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, named};
use crate::fetch::{Authored, missing};
use crate::output::warn;

/// Starts the informers of one recording.
pub(super) struct Watches<'a> {
    pub(super) connection: &'a Connection,
    /// Namespace; `None` for all.
    pub(super) namespace: Option<&'a str>,
    pub(super) messages: UnboundedSender<Message>,
    pub(super) gaps: Gaps,
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
        let mut builder = Informer::<Authored<T>>::builder(self.connection.client.clone());
        if let Some(namespace) = self.namespace.filter(|_| T::RESOURCE.namespaced) {
            builder = builder.namespace(namespace);
        }
        let informer = builder.metrics(self.gaps.clone()).build();
        let send = sending(&self.messages);
        let handler = informer.add_handler(move |event| {
            let recorded =
                |object: &Arc<Authored<T>>| (Recorded::from(Arc::new(object.object.clone())), object.part.0.clone());
            Message::of(&event, kube_ambient::now(), recorded).into_iter().for_each(&send);
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

/// Returns a function that sends messages to the recording, if that has not ended.
pub(super) fn sending(messages: &UnboundedSender<Message>) -> impl Fn(Message) + Send + Sync + use<> {
    let messages = messages.clone();
    move |message| drop(messages.send(message))
}
