//! Names of objects in the cluster, for completion.

use std::{ffi::OsString, time::Duration};

use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery};
use kube_endpoint_model::{Pod, Service};

use super::words::What;
use crate::{
    args::{Cli, Kind},
    connection::Connection,
    fetch::{Fetch, Freshness},
    progress::Progress,
};

/// Bound on the request: a user waits for the answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Returns the sorted names, as seen with the connection options among `options`.
pub(super) async fn read(options: &[String], what: What) -> anyhow::Result<Vec<String>> {
    let words = ["kubectl-endpoints"].into_iter().chain(options.iter().map(String::as_str)).chain(["check"]);
    let cli = Cli::parse_checked(words.map(OsString::from))?;
    let reading = async {
        let connection = Connection::open_within(&cli.global, TIMEOUT).await?;
        names(&connection, what).await
    };
    tokio::time::timeout(TIMEOUT, reading).await?
}

async fn names(connection: &Connection, what: What) -> anyhow::Result<Vec<String>> {
    let Connection { client, namespace, .. } = connection;
    let freshness = Freshness::AnyCached;
    let fetch = Fetch { client, namespace: Some(namespace), freshness, progress: &Progress::new() };
    match what {
        What::Objects(Kind::Service) => fetch.names::<Service>(None).await,
        What::Objects(Kind::Pod) => fetch.names::<Pod>(None).await,
        What::Objects(Kind::EndpointSlice) => fetch.names::<discovery::EndpointSlice>(None).await,
        What::Objects(Kind::Endpoints) => fetch.names::<core::Endpoints>(None).await,
        What::Namespaces => fetch.names::<core::Namespace>(None).await,
    }
}
