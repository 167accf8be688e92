//! What `retire plan` reads of the cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube_controller_client::Client;
use kube_endpoint_model::{Endpoints, Pod, Service, With};
use kube_endpoints_retire::{Accounts, Cluster, Facts, FoundEndpoints, PodProgram, Rights, Unread, Written};
use kube_wire::Decode;

use super::cluster;
use crate::args::PlanArgs;
use crate::connection::{Connection, named};
use crate::fetch::{Fetch, Freshness, Listed, Select};
use crate::output::warn;
use crate::progress::Progress;

/// Reads everything but the audit log and the history. What may not be read is unknown, and no error.
pub(super) async fn read(
    connection: &Connection,
    namespace: Option<&str>,
    args: &PlanArgs,
    progress: &Progress,
) -> anyhow::Result<Facts> {
    let client = &connection.client;
    let fetch = |namespace| Fetch { client, namespace, freshness: Freshness::AnyCached, progress };
    let (of, all) = (fetch(namespace), fetch(None));
    let (endpoints, services, pods, roles, uid, api_servers) = tokio::try_join!(
        of.list::<With<Endpoints, Written>>(&Select::All),
        of.list::<Service>(&Select::All),
        // Readers can be in any namespace.
        all.list::<With<Pod, PodProgram>>(&Select::All),
        rights(of, all),
        uid(client),
        api_servers(client),
    )?;
    let mut unread = Vec::new();
    let (rights, unread_roles) = roles;
    let endpoints = taken(endpoints, &mut unread);
    let services = taken(services, &mut unread);
    let mut are_pods_known = !pods.unreadable;
    let mut pods = taken(pods, &mut unread);
    if !are_pods_known && namespace.is_some() {
        let of_namespace = of.list::<With<Pod, PodProgram>>(&Select::All).await?;
        are_pods_known = !of_namespace.unreadable;
        pods = of_namespace.objects;
    }
    let is_comparable = are_pods_known && !unread.iter().any(|it| it.kind == Service::RESOURCE.plural);
    unread.extend(unread_roles);
    // One that is down is no address, and has logged requests.
    let is_api_server = |pod: &With<Pod, PodProgram>| {
        pod.namespace == "kube-system" && pod.labels.get("component") == Some("kube-apiserver")
    };
    let api_server_pods = pods.iter().filter(|pod| is_api_server(pod)).count();
    let api_servers = api_servers.map(|addresses| addresses.max(api_server_pods));
    let mut accounts = Accounts::default();
    let mut selectable = Vec::new();
    for pod in pods {
        if !pod.finished {
            accounts.add(&pod.namespace, &pod.name, &pod.part);
        }
        if namespace.is_none_or(|namespace| *pod.namespace == *namespace) {
            selectable.push(Arc::new(owned(pod).object));
        }
    }
    let endpoints = endpoints.into_iter().map(|found| {
        let With { object, part } = owned(found);
        FoundEndpoints { endpoints: Arc::new(object), written: part }
    });
    Ok(Facts {
        now: kube_ambient::now(),
        cluster: Cluster { uid },
        namespace: namespace.map(str::to_owned),
        endpoints: endpoints.collect(),
        services,
        pods: selectable,
        accounts,
        rights,
        unread,
        is_comparable,
        reads: None,
        asked: args.duration,
        api_servers,
        is_merged_log: args.merged_log,
        writes: None,
    })
}

/// Returns the objects of a list, after noting why there are none.
fn taken<T: Decode>(listed: Listed<T>, unread: &mut Vec<Unread>) -> Vec<Arc<T>> {
    let Listed { objects, warnings, unreadable, .. } = listed;
    if unreadable {
        unread.push(Unread { kind: T::RESOURCE.plural.to_owned(), because: warnings.join("; ") });
    } else {
        warnings.iter().for_each(warn);
    }
    objects
}

/// Returns an object that nothing else refers to.
fn owned<T: Clone>(object: Arc<T>) -> T {
    Arc::unwrap_or_clone(object)
}

/// Reads the rights to read Endpoints; `None` if they are not known completely, and which kinds are missing.
async fn rights(of: Fetch<'_>, all: Fetch<'_>) -> anyhow::Result<(Option<Rights>, Vec<Unread>)> {
    let (cluster_roles, cluster_bindings, roles, bindings) = tokio::try_join!(
        all.list::<ClusterRole>(&Select::All),
        all.list::<ClusterRoleBinding>(&Select::All),
        of.list::<Role>(&Select::All),
        of.list::<RoleBinding>(&Select::All),
    )?;
    let mut unread = Vec::new();
    let cluster_roles = taken(cluster_roles, &mut unread);
    let cluster_bindings = taken(cluster_bindings, &mut unread);
    let (roles, bindings) = (taken(roles, &mut unread), taken(bindings, &mut unread));
    let rights = Rights::new(
        cluster_roles.iter().map(|it| &**it),
        cluster_bindings.iter().map(|it| &**it),
        roles.iter().map(|it| &**it),
        bindings.iter().map(|it| &**it),
    );
    Ok((unread.is_empty().then_some(rights), unread))
}

/// Returns the UID that identifies the cluster; empty, with a warning, if it may not be read.
async fn uid(client: &Client) -> anyhow::Result<String> {
    Ok(cluster::uid(client).await?.unwrap_or_else(|error| {
        warn(format_args!("the plan does not say of which cluster it is: {error}"));
        String::new()
    }))
}

/// Returns the number of API servers, which are the addresses of `default/kubernetes`; `None` if it is not known.
async fn api_servers(client: &Client) -> anyhow::Result<Option<usize>> {
    match client.get::<Endpoints>("default", "kubernetes").await {
        Ok(endpoints) => {
            let addresses = endpoints.subsets.iter().flat_map(|subset| &subset.addresses);
            let addresses: BTreeSet<String> = addresses.map(|address| address.ip.to_string()).collect();
            Ok(Some(addresses.len()).filter(|count| *count > 0))
        }
        Err(error) if error.is_forbidden() || error.is_not_found() => Ok(None),
        Err(error) => Err(named(error)),
    }
}
