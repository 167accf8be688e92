//! Reads everything in a namespace or the whole cluster, for `check` and `diff`.

use anyhow::bail;
use kube_endpoints_explain::{Kind, World};

use crate::{
    args::GlobalArgs,
    connection::Connection,
    fetch::{Fetch, Freshness, Needs, Objects},
    progress::Progress,
    selection::Selection,
};

/// The objects of a namespace or of all.
pub(crate) struct Cluster {
    /// The objects.
    pub(crate) objects: Objects,
    /// The objects in the form that is explained.
    pub(crate) world: World,
    /// Services to which the results are restricted; `None` for all.
    pub(crate) selection: Option<Selection>,
    /// `namespace shop` or `all namespaces`, for messages.
    pub(crate) scope: String,
}

impl Cluster {
    /// Reads the objects that the arguments select, and prints warnings about what cannot be read.
    ///
    /// Fails if Services cannot be read: nothing could be said about any of them.
    pub(crate) async fn read(args: &GlobalArgs) -> anyhow::Result<Cluster> {
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
        objects.warn();
        let world = objects.world(args.settings());
        let scope = namespace.map_or_else(|| "all namespaces".to_owned(), |namespace| format!("namespace {namespace}"));
        Ok(Cluster { objects, world, selection: selected.map(Selection::new), scope })
    }
}
