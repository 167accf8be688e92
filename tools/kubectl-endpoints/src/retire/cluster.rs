//! What `apply` and `undo` read of the cluster.

use std::sync::Arc;

use anyhow::bail;
use k8s_openapi::api::core::v1::Namespace;
use kube_controller_client::{Client, Error};
use kube_endpoint_model::well_known::{
    ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, MIRRORING_CONTROLLER, SLICE_MANAGED_BY_LABEL,
};
use kube_endpoint_model::{Cluster, Code, ObjectKey};
use kube_endpoints_explain::{self as explain, Kind, World};
use kube_endpoints_retire::apply::{Found, Target};
use kube_endpoints_retire::{ObjectState, WholeEndpoints};
use kube_wire::Object as _;

use crate::args::GlobalArgs;
use crate::connection::named;
use crate::fetch::{Fetch, Freshness, Needs, Objects, Select, find};
use crate::output::warn;
use crate::progress::Progress;

/// Namespace whose UID identifies the cluster.
const SYSTEM: &str = "kube-system";

/// Label selector of the Endpoints that the endpoints controller manages.
pub(super) fn managed() -> String {
    format!("{ENDPOINTS_MANAGED_BY_LABEL}={ENDPOINTS_CONTROLLER}")
}

/// Returns the UID that identifies the cluster; `None`, with a warning, if it is not known or that of the file is not, and this is
/// accepted.
pub(super) async fn identity(client: &Client, of_file: &str, accept_unknown: bool) -> anyhow::Result<Option<String>> {
    let reason = match uid(client).await? {
        Ok(_) if of_file.is_empty() => "the file does not name its cluster".to_owned(),
        Ok(uid) => return Ok(Some(uid)),
        Err(error) => error.to_string(),
    };
    if !accept_unknown {
        bail!("the cluster is not known to be that of the file: {reason}; --accept-unknown-cluster goes on");
    }
    warn(format_args!("the cluster is not known to be that of the file: {reason}"));
    Ok(None)
}

/// Reads the UID that identifies the cluster. The inner error says why it may not be read.
pub(super) async fn uid(client: &Client) -> anyhow::Result<Result<String, Error>> {
    match client.get::<Namespace>("", SYSTEM).await {
        Ok(namespace) => Ok(Ok(namespace.metadata.uid.unwrap_or_default())),
        Err(error) if error.is_forbidden() || error.is_not_found() => Ok(Err(error)),
        Err(error) => Err(named(error)),
    }
}

/// Reads all managed Endpoints of a namespace, or of all, with all their fields.
pub(super) async fn managed_endpoints(
    client: &Client,
    namespace: Option<&str>,
) -> anyhow::Result<Vec<Arc<WholeEndpoints>>> {
    let progress = Progress::new();
    let fetch = Fetch { client, namespace, freshness: Freshness::MostRecent, progress: &progress };
    let select = Select::Labels(managed());
    let listing = fetch.complete::<WholeEndpoints>(&select);
    progress.show_during(Box::pin(listing)).await
}

/// Reads again what decides about the content of objects of one namespace, and compares them with it. `None` for objects that do not
/// exist.
pub(super) async fn check(
    global: &GlobalArgs,
    client: &Client,
    namespace: &str,
    targets: &[Target],
) -> anyhow::Result<Vec<Option<Found>>> {
    let progress = Progress::new();
    let fetch = Fetch { client, namespace: Some(namespace), freshness: Freshness::MostRecent, progress: &progress };
    let mirrored = format!("{SLICE_MANAGED_BY_LABEL}={MIRRORING_CONTROLLER}");
    let needs = Needs {
        services: Select::All,
        pods: Select::All,
        nodes: Select::Nothing,
        slices: Select::Labels(mirrored),
        endpoints: Select::Labels(managed()),
        last_writes: false,
    };
    let mut objects = fetch.objects(&needs).await?;
    if !objects.unknown.is_empty() {
        bail!("{}", objects.warnings.join("; "));
    }
    objects.warn();
    // Endpoints do not depend on Nodes.
    objects.unknown.insert(Kind::Node);
    let world = objects.world(global.settings());
    Ok(targets.iter().map(|target| found(&world, &objects, target)).collect())
}

fn found(world: &World, objects: &Objects, target: &Target) -> Option<Found> {
    let object = &target.object;
    let key = object.key();
    let (current, report) = (find(&objects.endpoints, &key)?, world.endpoints(&key)?);
    let is_unchanged = current.uid() == object.uid() && current.resource_version() == object.resource_version();
    // The slices of mirrored Endpoints go with them.
    let is_mirrored = !report.mirrors.is_empty() || will_be_mirrored(world, &key, &report);
    Some(Found { is_unchanged, state: state(report.written.state), is_mirrored })
}

/// Returns whether the mirroring controller mirrors an object, or will do so: no finding says why it does not.
fn will_be_mirrored(world: &World, key: &ObjectKey, report: &explain::ObjectReport) -> bool {
    let reasons = [Code::MirrorSelector, Code::MirrorSkipped, Code::MirrorLeaderLock, Code::MirrorNoService];
    Cluster::service(world, key).is_some() && !report.findings.iter().any(|it| reasons.contains(&it.reason.code))
}

fn state(state: explain::ObjectState) -> Option<ObjectState> {
    match state {
        explain::ObjectState::Current => Some(ObjectState::Current),
        explain::ObjectState::Orphaned => Some(ObjectState::LeftOver),
        explain::ObjectState::Unknown => None,
        _ => Some(ObjectState::Differs),
    }
}
