//! Objects that are read before the others, because they determine which others are needed.

use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube_controller_client::{Client, Error};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_endpoints_explain::Kind as Explained;
use kube_wire::Decode;

use crate::{
    args::{Kind, Target},
    connection::{Connection, named},
    details::{DetailedPod, Details},
    fetch::{Authored, Needs, Objects, Select, find, split},
};

/// Concurrent requests for objects.
const CONCURRENCY: usize = 8;

/// The Pods and slices to explain, and what follows from them.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// What the explanation needs.
    pub(super) needs: Needs,
    /// Details of the Pods.
    pub(super) details: Details,
    pods: Vec<Arc<Pod>>,
    slices: Vec<Arc<Authored<EndpointSlice>>>,
}

/// A target that has been read, if it is a Pod or a slice and exists.
enum Anchor {
    Pod(Box<DetailedPod>),
    Slice(Box<Authored<EndpointSlice>>),
    None,
}

impl Anchors {
    /// Reads the Pods and slices among the targets. Those that do not exist are skipped.
    pub(super) async fn read(connection: &Connection, targets: &[Target]) -> anyhow::Result<Anchors> {
        let Connection { client, namespace, .. } = connection;
        let read = |target: &Target| {
            let Target { kind, name } = target.clone();
            async move {
                Ok::<_, anyhow::Error>(match kind {
                    Kind::Pod => {
                        get(client, namespace, &name).await?.map_or(Anchor::None, |it| Anchor::Pod(Box::new(it)))
                    }
                    Kind::EndpointSlice => {
                        get(client, namespace, &name).await?.map_or(Anchor::None, |it| Anchor::Slice(Box::new(it)))
                    }
                    Kind::Service | Kind::Endpoints => Anchor::None,
                })
            }
        };
        let read: Vec<Anchor> = stream::iter(targets).map(read).buffered(CONCURRENCY).try_collect().await?;

        let mut anchors = Anchors::default();
        for (target, anchor) in targets.iter().zip(read) {
            let hint = match &anchor {
                Anchor::Pod(pod) => Some(pod.node_name.as_str()),
                Anchor::Slice(slice) => slice.service_name(),
                Anchor::None if matches!(target.kind, Kind::Pod | Kind::EndpointSlice) => continue,
                Anchor::None => None,
            };
            anchors.needs.extend(Needs::of(target, hint.filter(|hint| !hint.is_empty())));
            match anchor {
                Anchor::Pod(pod) => {
                    anchors.pods.push(Arc::new(pod.object.clone()));
                    anchors.details.insert(*pod);
                }
                Anchor::Slice(slice) => anchors.slices.push(Arc::from(slice)),
                Anchor::None => {}
            }
        }
        Ok(anchors)
    }

    /// Adds the targets of kinds that the user may not list, but read by name, and the Nodes of Pods that have moved. Fails if the
    /// targets may not be read either.
    pub(super) async fn complete(
        &self,
        connection: &Connection,
        targets: &[Target],
        objects: &mut Objects,
    ) -> anyhow::Result<()> {
        let Connection { client, namespace, .. } = connection;
        if objects.unknown.contains(&Explained::Pod) {
            objects.pods.extend(self.pods.iter().cloned());
        }
        if objects.unknown.contains(&Explained::EndpointSlice) {
            let (slices, last_writes) = split(Explained::EndpointSlice, &self.slices);
            objects.slices.extend(slices);
            objects.last_writes.extend(last_writes);
        }
        for Target { kind, name } in targets {
            if !objects.unknown.contains(&(*kind).into()) {
                continue;
            }
            match kind {
                Kind::Service => {
                    let service: Option<Service> = get(client, namespace, name).await?;
                    objects.services.extend(service.map(Arc::new));
                }
                Kind::Endpoints => {
                    let found: Option<Authored<Endpoints>> = get(client, namespace, name).await?;
                    let (endpoints, last_writes) = split(Explained::Endpoints, found.map(Arc::new).as_slice());
                    objects.endpoints.extend(endpoints);
                    objects.last_writes.extend(last_writes);
                }
                Kind::Pod | Kind::EndpointSlice => {}
            }
        }
        self.add_nodes(connection, targets, objects).await
    }

    /// Adds the Nodes of target Pods that `needs` does not select: a Pod of a StatefulSet keeps its name when it is created again on
    /// another Node. They are not watched, but read again for each report.
    async fn add_nodes(
        &self,
        connection: &Connection,
        targets: &[Target],
        objects: &mut Objects,
    ) -> anyhow::Result<()> {
        let Connection { client, namespace, .. } = connection;
        let Select::Name(known) = &self.needs.nodes else { return Ok(()) };
        for Target { name, .. } in targets.iter().filter(|target| target.kind == Kind::Pod) {
            let pod = find(&objects.pods, &ObjectKey::new(namespace.as_str(), name.as_str()));
            let node = pod.map(|pod| pod.node_name.clone()).unwrap_or_default();
            if node.is_empty() || *known == *node || objects.unknown.contains(&Explained::Node) {
                continue;
            }
            match get::<Node>(client, "", &node).await {
                Ok(node) => objects.nodes.extend(node.map(Arc::new)),
                Err(error) if error.downcast_ref().is_some_and(Error::is_forbidden) => {
                    objects.unknown.insert(Explained::Node);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Reads one object; `None` if it does not exist.
async fn get<T: Decode>(client: &Client, namespace: &str, name: &str) -> anyhow::Result<Option<T>> {
    match client.get::<T>(namespace, name).await {
        Ok(object) => Ok(Some(object)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(named(error)),
    }
}

/// Whether the object does not exist. If the server does not serve the API, its answer has no name.
fn is_absent(error: &Error) -> bool {
    let details = error.status().and_then(|status| status.details.as_ref());
    error.is_not_found() && details.is_some_and(|details| !details.name.is_empty())
}
