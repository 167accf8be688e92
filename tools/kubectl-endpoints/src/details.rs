//! Details of Pods, which explain why they are not ready.

use std::collections::HashMap;

use futures::{StreamExt as _, stream};
use kube_controller_client::Client;
use kube_endpoint_model::{ObjectKey, Pod, With};
use kube_endpoints_explain::{PodDetails, World};
use kube_wire::Object as _;

use crate::{
    connection::named,
    fetch::{Objects, missing},
    output::warn,
};

/// Concurrent requests for Pods.
const CONCURRENCY: usize = 8;

/// A Pod with its details.
pub(crate) type DetailedPod = With<Pod, PodDetails>;

/// Pods that have been read with their details.
#[derive(Debug, Default)]
pub(crate) struct Details {
    pods: HashMap<ObjectKey, DetailedPod>,
    /// Message if the user may not read Pods; no more are requested then.
    forbidden: Option<String>,
}

impl Details {
    pub(crate) fn insert(&mut self, pod: DetailedPod) {
        self.pods.insert(pod.key(), pod);
    }

    /// Reads the Pods that are not stored in the version that `objects` has, and forgets their earlier versions. A Pod that does not
    /// exist any more is skipped.
    pub(crate) async fn read(
        &mut self,
        client: &Client,
        wanted: &[ObjectKey],
        objects: &Objects,
    ) -> anyhow::Result<()> {
        self.pods.retain(|key, pod| {
            wanted.contains(key) && objects.pod_version(key).is_none_or(|it| it == pod.resource_version())
        });
        let requests: Vec<ObjectKey> = wanted.iter().filter(|key| !self.pods.contains_key(*key)).cloned().collect();
        if self.forbidden.is_some() {
            return Ok(());
        }
        let get = |key: ObjectKey| async move { client.get::<DetailedPod>(&key.namespace, &key.name).await };
        let mut pods = stream::iter(requests).map(get).buffer_unordered(CONCURRENCY);
        while let Some(pod) = pods.next().await {
            match pod {
                Ok(pod) => drop(self.pods.insert(pod.key(), pod)),
                Err(error) if error.is_not_found() => {}
                Err(error) => {
                    let Some(message) = missing::<Pod>(&error) else { return Err(named(error)) };
                    self.forbidden = Some(message);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Prints the warning about a missing right.
    pub(crate) fn warn(&self) {
        self.forbidden.iter().for_each(warn);
    }

    /// Adds the details to what is explained.
    pub(crate) fn add_to(&self, world: &mut World) {
        for (key, pod) in &self.pods {
            world.add_pod_details(key.clone(), pod.part.clone());
        }
    }
}
