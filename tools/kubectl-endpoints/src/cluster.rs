//! Reads everything in a namespace or the whole cluster, for `check` and `diff`.

use std::process::ExitCode;

use anyhow::bail;
use k8s_openapi::api::core::v1::Namespace;
use kube_endpoint_model::{LabelSelector, ObjectKey};
use kube_endpoints_explain::{Kind, World, text};
use kube_wire::Object as _;

use crate::{
    args::GlobalArgs,
    connection::{Connection, namespace_offline},
    details::Details,
    diff::ERROR_STATUS,
    fetch::{Fetch, Freshness, Needs, Objects},
    output::message,
    past::Past,
    progress::Progress,
    selection::Selection,
    source::Source,
};

/// Maximum number of Pods of one Service whose details are read: as many as a finding names.
const DETAILED_PODS: usize = 3;
/// Maximum number of Pods of all Services whose details are read.
const MAX_DETAILED_PODS: usize = 100;

/// The objects of a namespace or of all.
pub(crate) struct Cluster {
    /// `None` for a recorded moment.
    connection: Option<Connection>,
    pub(crate) objects: Objects,
    /// The objects in the form that is explained.
    pub(crate) world: World,
    /// Services to which the results are restricted; `None` for all.
    pub(crate) selection: Option<Selection>,
    /// `namespace shop` or `all namespaces`, for messages.
    pub(crate) scope: String,
}

/// Prints an error and returns its exit status if slices and Endpoints could not be compared with what the controllers
/// would write. Without Nodes they are compared, apart from zones and hints.
pub(crate) fn not_compared(objects: &Objects) -> Option<ExitCode> {
    let unknown: Vec<Kind> = objects.unknown.iter().copied().filter(|kind| *kind != Kind::Node).collect();
    if unknown.is_empty() {
        return None;
    }
    let reason = text::may_not_read(&unknown);
    message("error: ", format_args!("EndpointSlices or Endpoints were not compared: {reason}"));
    Some(ExitCode::from(ERROR_STATUS))
}

impl Cluster {
    /// Reads the objects that the arguments select, and prints warnings about what cannot be read.
    ///
    /// Fails if Services cannot be read, since nothing could be reported about any of them, and if the namespace does not
    /// exist. A user without the right to read the namespace gets no error.
    pub(crate) async fn read(args: &GlobalArgs) -> anyhow::Result<Cluster> {
        if let Some(source) = Source::of(args) {
            return Cluster::recorded(args, source).await;
        }
        let connection = Connection::open(args).await?;
        let namespace = (!args.all_namespaces).then_some(connection.namespace.as_str());
        let progress = Progress::new();
        let freshness = Freshness::AnyCached;
        let fetch = Fetch { client: &connection.client, namespace, freshness, progress: &progress };
        let needs = Needs::everything();
        let selected = async {
            match &args.selector {
                Some(selector) => fetch.select_services(selector).await.map(Some),
                None => Ok(None),
            }
        };
        let reading = async { tokio::try_join!(selected, fetch.objects(&needs)) };
        let (selected, objects) = progress.show_during(Box::pin(reading)).await?;
        if objects.unknown.contains(&Kind::Service) {
            bail!("{}", objects.warnings.join("; "));
        }
        if let Some(namespace) = namespace
            && objects.services.is_empty()
            && let Err(error) = connection.client.get::<Namespace>("", namespace).await
            && error.is_not_found()
        {
            bail!("namespace {namespace:?} does not exist");
        }
        objects.warn();
        let world = objects.world(args.settings());
        let scope = namespace.map_or_else(|| "all namespaces".to_owned(), |namespace| format!("namespace {namespace}"));
        let connection = Some(connection);
        Ok(Cluster { connection, objects, world, selection: selected.map(|it| Selection::of(&it)), scope })
    }

    /// Reads the objects of a recorded moment. Fails as [`read`](Self::read) does; a namespace without any object counts as one
    /// that was not recorded.
    async fn recorded(args: &GlobalArgs, source: Source<'_>) -> anyhow::Result<Cluster> {
        let selector = args.selector.as_deref().map(LabelSelector::parse).transpose()?;
        let namespace = if args.all_namespaces { None } else { Some(namespace_offline(args).await) };
        let Past { objects, time } = Past::read(args, source, namespace.as_deref()).await?;
        if objects.unknown.contains(&Kind::Service) {
            bail!("{}", objects.warnings.join("; "));
        }
        if let Some(namespace) = &namespace
            && objects.services.is_empty()
            && objects.pods.is_empty()
            && objects.slices.is_empty()
            && objects.endpoints.is_empty()
        {
            bail!("the history has no object of namespace {namespace:?} at {time}");
        }
        objects.warn();
        let world = objects.world(args.settings());
        let selected =
            selector.map(|selector| Selection::of(objects.services.iter().filter(|it| selector.matches(&it.labels))));
        let scope = namespace
            .map_or_else(|| "all recorded namespaces".to_owned(), |namespace| format!("namespace {namespace}"));
        Ok(Cluster { connection: None, objects, world, selection: selected, scope })
    }

    /// Returns the Services to which the results are restricted.
    pub(crate) fn services(&self) -> impl Iterator<Item = ObjectKey> {
        let selects = move |key: &ObjectKey| self.selection.as_ref().is_none_or(|selection| selection.has_service(key));
        self.world.services().map(|service| service.key()).filter(selects)
    }

    /// Reads why Pods are not ready, for at most 100 Pods. A missing right is not worth a warning: the findings only
    /// have fewer facts, as those of a recorded moment do.
    pub(crate) async fn read_details(&mut self) -> anyhow::Result<()> {
        let Some(connection) = &self.connection else { return Ok(()) };
        let wanted = self.services().flat_map(|service| self.world.pods_to_detail(&service, DETAILED_PODS));
        let wanted: Vec<ObjectKey> = wanted.take(MAX_DETAILED_PODS).collect();
        let mut details = Details::default();
        details.read(&connection.client, &wanted, &self.objects).await?;
        details.add_to(&mut self.world);
        Ok(())
    }
}
