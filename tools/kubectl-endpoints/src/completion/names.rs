//! Names of objects in the cluster, for completion.

use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;

use super::words::What;
use crate::{
    args::GlobalArgs,
    connection::Connection,
    fetch::{Fetch, Freshness},
    progress::Progress,
};

/// Bound on reading the names: a user waits for the answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Returns the sorted names.
pub(super) async fn read(args: &GlobalArgs, what: What) -> anyhow::Result<Vec<String>> {
    let reading = async { names(&Connection::open(args).await?, what).await };
    tokio::time::timeout(TIMEOUT, reading).await?
}

async fn names(connection: &Connection, what: What) -> anyhow::Result<Vec<String>> {
    let Connection { client, namespace, .. } = connection;
    let freshness = Freshness::AnyCached;
    let fetch = Fetch { client, namespace: Some(namespace), freshness, progress: &Progress::new() };
    match what {
        What::Objects(kind) => fetch.names_of(kind, None).await,
        What::Namespaces => fetch.names::<Namespace>(None).await,
    }
}
