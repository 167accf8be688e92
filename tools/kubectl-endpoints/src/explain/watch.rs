//! `explain --watch`: explains again after changes of the objects.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use anyhow::Context as _;
use futures::FutureExt as _;
use kube_controller_client::Error;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_endpoints_explain::Kind;
use kube_informer::{HandlerHandle, Informer, Lister, wait_for_sync};
use kube_wire::{Decode, Object};
use tokio::{sync::Notify, task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{Anchors, explain};
use crate::{
    args::{Format, GlobalArgs, Target},
    connection::Connection,
    fetch::{Authored, Needs, Objects, Select, split},
    output::{self, Output},
};

/// Time for which changes are collected before the next report: a rollout changes many objects at once.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Time after which a request that the server has failed is sent again.
const RETRY: Duration = Duration::from_secs(1);
/// Timeout of the first lists.
const SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// Prints the reports again whenever they change. Ends with an error, or once standard output is closed. While the server fails
/// requests for details of Pods, reports lack these; while it fails those for objects that may not be watched, there is none.
///
/// `printed` is what has been printed already. Kinds in `unknown` are not watched, because they cannot be listed.
pub(super) async fn run(
    global: &GlobalArgs,
    connection: &Connection,
    output: Output,
    targets: &[Target],
    anchors: &mut Anchors,
    unknown: BTreeSet<Kind>,
    mut printed: String,
) -> anyhow::Result<()> {
    let mut tasks = JoinSet::new();
    let following = connection.client.follow_files();
    tasks.spawn(async { match following.await {} });
    let watched = Watched::start(connection, &anchors.needs, unknown, &mut tasks).await?;
    let (mut missing, mut has_failed) = (Vec::new(), false);
    loop {
        tokio::select! {
            biased;
            ended = tasks.join_next() => {
                ended.context("no watch is left")??;
                anyhow::bail!("a watch has ended");
            }
            () = watched.changed.notified() => {}
            () = sleep(RETRY), if has_failed => {}
        }
        sleep(DEBOUNCE).await;
        // Changes until now are in the next report. A later one notifies again.
        let _ = watched.changed.notified().now_or_never();
        let mut objects = watched.objects();
        let (reports, read) = match anchors.complete(connection, targets, &mut objects).await {
            Ok(()) => {
                let (reports, detailed) = explain(global, connection, targets, &objects, anchors).await;
                (Some(reports), detailed)
            }
            Err(error) => (None, Err(error)),
        };
        has_failed = match read {
            Ok(()) => false,
            Err(error) if error.downcast_ref().is_some_and(Error::is_server_failure) => {
                if !has_failed {
                    output::warn(format_args!("{error:#}; trying again"));
                }
                true
            }
            Err(error) => return Err(error),
        };
        let Some(reports) = reports else { continue };
        for target in reports.missing.iter().filter(|target| !missing.contains(*target)) {
            output::message("", format_args!("{target} does not exist any more"));
        }
        missing.clone_from(&reports.missing);
        let rendered = reports.render(output)?;
        let is_new = rendered != printed && !rendered.is_empty();
        if is_new && !output::print(&format!("{}{rendered}", separator(output.format)))? {
            return Ok(());
        }
        printed = rendered;
    }
}

/// Returns what separates a report from the one before.
fn separator(format: Option<Format>) -> &'static str {
    match format {
        Some(Format::Yaml) => "---\n",
        Some(Format::Json | Format::Name) => "",
        Some(Format::Wide | Format::Html) | None => "\n",
    }
}

/// Objects that informers keep current.
struct Watched {
    /// Notified after each change.
    changed: Arc<Notify>,
    services: Option<Lister<Service>>,
    pods: Option<Lister<Pod>>,
    nodes: Option<Lister<Node>>,
    slices: Option<Lister<Authored<EndpointSlice>>>,
    endpoints: Option<Lister<Authored<Endpoints>>>,
    unknown: BTreeSet<Kind>,
}

struct Starter<'a> {
    connection: &'a Connection,
    changed: Arc<Notify>,
    handlers: Vec<HandlerHandle>,
    tasks: &'a mut JoinSet<()>,
    unknown: &'a BTreeSet<Kind>,
}

impl Watched {
    /// Starts informers and waits until they are synced, at most 60 s.
    async fn start(
        connection: &Connection,
        needs: &Needs,
        unknown: BTreeSet<Kind>,
        tasks: &mut JoinSet<()>,
    ) -> anyhow::Result<Watched> {
        let Needs { services, pods, nodes, slices, endpoints, last_writes: _ } = needs;
        let changed = Arc::new(Notify::new());
        let (handlers, unknown_kinds) = (Vec::new(), &unknown);
        let mut start = Starter { connection, changed: Arc::clone(&changed), handlers, tasks, unknown: unknown_kinds };
        let services = start.informer(Kind::Service, services);
        let pods = start.informer(Kind::Pod, pods);
        let nodes = start.informer(Kind::Node, nodes);
        let slices = start.informer(Kind::EndpointSlice, slices);
        let endpoints = start.informer(Kind::Endpoints, endpoints);
        wait_for_sync(&start.handlers, SYNC_TIMEOUT).await?;
        Ok(Watched { changed, services, pods, nodes, slices, endpoints, unknown })
    }

    fn objects(&self) -> Objects {
        let (slices, mut last_writes) = split(Kind::EndpointSlice, &list(self.slices.as_ref()));
        let (endpoints, of_endpoints) = split(Kind::Endpoints, &list(self.endpoints.as_ref()));
        last_writes.extend(of_endpoints);
        Objects {
            services: list(self.services.as_ref()),
            pods: list(self.pods.as_ref()),
            nodes: list(self.nodes.as_ref()),
            slices,
            endpoints,
            last_writes,
            unknown: self.unknown.clone(),
            ..Objects::default()
        }
    }
}

impl Starter<'_> {
    /// Starts an informer of the selected objects, unless there are none or the kind cannot be listed.
    fn informer<T: Decode>(&mut self, kind: Kind, select: &Select) -> Option<Lister<T>> {
        if *select == Select::Nothing || self.unknown.contains(&kind) {
            return None;
        }
        let mut builder = Informer::<T>::builder(self.connection.client.clone());
        if T::RESOURCE.namespaced {
            builder = builder.namespace(&self.connection.namespace);
        }
        if let Some(selector) = select.label_selector() {
            builder = builder.label_selector(&selector);
        }
        if let Some(selector) = select.field_selector() {
            builder = builder.field_selector(&selector);
        }
        let informer = builder.build();
        let changed = Arc::clone(&self.changed);
        self.handlers.push(informer.add_handler(move |_| changed.notify_one()).named(T::RESOURCE.plural));
        // The tasks are aborted when the set is dropped.
        self.tasks.spawn(informer.run(CancellationToken::new()));
        Some(informer.lister())
    }
}

fn list<T: Object>(lister: Option<&Lister<T>>) -> Vec<Arc<T>> {
    lister.map(Lister::list).unwrap_or_default()
}
