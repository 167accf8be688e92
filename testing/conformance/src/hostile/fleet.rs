//! Many Services with Pods, and the endpoints that follow from them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{World, objects::service_of};
use crate::{
    Kind, Output,
    objects::{Pod, pod, service},
};

/// Maximum number of differences in an error.
const SHOWN: usize = 10;

/// Label of Endpoints that the controllers manage.
pub(super) const MANAGED: &str = "endpoints.kubernetes.io/managed-by";

/// Namespace and name of a Service.
pub(super) type Key = (String, String);

/// Sorted ready addresses by Service, without Services that have none.
pub(super) type Addresses = BTreeMap<Key, Vec<String>>;

/// Ready addresses in the slices and Endpoints of all Services.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Served {
    pub(super) slices: Addresses,
    pub(super) endpoints: Addresses,
}

/// Returns the address of a Pod. Each generation of Pods has other addresses.
pub(super) fn address(generation: usize, number: usize) -> String {
    format!("10.{}.{}.{}", 1 + generation, number / 200, 1 + number % 200)
}

pub(super) fn service_name(number: usize) -> String {
    format!("web-{number:03}")
}

impl World {
    /// Creates many objects at once, with their status. They need the embedded server.
    pub(super) fn load(&self, objects: impl IntoIterator<Item = (Kind, Value)>) -> Result<()> {
        let typed = objects.into_iter().map(|(kind, mut object)| {
            self.profile.patch(kind, &mut object);
            let resource = kind.resource();
            object["apiVersion"] = json!(resource.api_version());
            object["kind"] = json!(resource.kind);
            object
        });
        self.server()?.load(typed)?;
        Ok(())
    }

    /// Creates `services` Services with `pods` ready Pods each in a namespace, on the Node of the scenario. Pods with
    /// successive numbers belong to different Services.
    pub(super) fn fleet(&self, namespace: &str, services: usize, pods: usize) -> Result<()> {
        self.load((0..services).map(|number| service(namespace, &service_name(number))))?;
        self.pods(namespace, 0, services, 0..services * pods)
    }

    /// Creates the Pods with these numbers, as the given generation, for the Services of [`fleet`](Self::fleet).
    pub(super) fn pods(
        &self,
        namespace: &str,
        generation: usize,
        services: usize,
        numbers: impl IntoIterator<Item = usize>,
    ) -> Result<()> {
        self.load(numbers.into_iter().map(|number| {
            let (service, ip) = (service_name(number % services), address(generation, number));
            let name = pod_name(generation, number);
            pod(Pod { namespace, service: &service, name: &name, ip: &ip, node: &self.namespace })
        }))
    }

    /// Deletes Pods of [`pods`](Self::pods) in the namespace of the scenario.
    pub(super) async fn kill_pods(&self, numbers: impl IntoIterator<Item = usize>) -> Result<()> {
        for number in numbers {
            self.kill(&pod_name(0, number)).await?;
        }
        Ok(())
    }

    /// Runs the controllers until all slices and Endpoints are right, and stops them.
    pub(super) async fn run_until_right(&self) -> Result<()> {
        Box::pin(crate::during(self.start().await?, self.until_right(self.limits.start))).await
    }

    /// Waits until the ready endpoints in the slices and Endpoints of all namespaces, as far as they are claimed, are those
    /// that follow from Services, Pods, Nodes and custom Endpoints.
    pub(super) async fn until_right(&self, limit: Duration) -> Result<()> {
        let mut wait = self.wait(limit);
        loop {
            let (expect, found) = (self.demanded()?, self.served().await?);
            if expect == found {
                return Ok(());
            }
            let reason = || {
                let mut lines = differences("slices", &expect.slices, &found.slices);
                lines.extend(differences("Endpoints", &expect.endpoints, &found.endpoints));
                let count = lines.len();
                lines.truncate(SHOWN);
                format!("right endpoints; {count} differences:\n  {}", lines.join("\n  "))
            };
            wait.again(reason).await?;
        }
    }

    /// Waits until slices and Endpoints, as far as they are claimed, contain this ready address.
    pub(super) async fn until_served(&self, address: &str) -> Result<()> {
        let mut wait = self.wait(self.limits.start);
        let has = |all: &Addresses| all.values().flatten().any(|it| it == address);
        loop {
            let Served { slices, endpoints } = self.served().await?;
            if (!self.claims(Output::ServiceSlices) || has(&slices))
                && (!self.claims(Output::Endpoints) || has(&endpoints))
            {
                return Ok(());
            }
            wait.again(|| format!("{address} is not served")).await?;
        }
    }

    /// Returns the endpoints that follow from Services, Pods, Nodes and custom Endpoints, as far as they are claimed.
    pub(super) fn demanded(&self) -> Result<Served> {
        let server = self.server()?;
        let nodes = server.objects("", "nodes");
        let nodes: BTreeSet<_> = nodes.iter().filter_map(|node| node["metadata"]["name"].as_str()).collect();
        let (pods, custom) = (server.objects("", "pods"), server.objects("", "endpoints"));
        let mut demanded = Served::default();
        for service in server.objects("", "services") {
            let key = key(&service);
            let Some(selector) = service["spec"]["selector"].as_object() else {
                if self.claims(Output::MirroredSlices)
                    && let Some(object) = custom.iter().find(|it| self::key(it) == key)
                {
                    insert(&mut demanded.slices, key, ready(object));
                }
                continue;
            };
            let selected = pods.iter().filter(|pod| {
                pod["metadata"]["namespace"] == *key.0
                    && selector.iter().all(|(label, value)| pod["metadata"]["labels"][label] == *value)
                    && pod["status"]["conditions"][0]["status"] == "True"
            });
            let address = |pod: &Value| pod["status"]["podIP"].as_str().unwrap_or_default().to_owned();
            if self.claims(Output::ServiceSlices) {
                // The slice controller omits Pods whose Node does not exist.
                let placed = selected
                    .clone()
                    .filter(|pod| pod["spec"]["nodeName"].as_str().is_some_and(|it| nodes.contains(it)));
                insert(&mut demanded.slices, key.clone(), placed.map(address).collect());
            }
            if self.claims(Output::Endpoints) {
                insert(&mut demanded.endpoints, key.clone(), selected.map(address).collect());
            }
        }
        Ok(demanded)
    }

    /// Returns the ready endpoints in all slices, and in the Endpoints of Services that select Pods, or once did.
    async fn served(&self) -> Result<Served> {
        let mut served = Served::default();
        for slice in self.list_all(Kind::EndpointSlice).await? {
            if let Some((key, addresses)) = in_slice(&slice) {
                served.slices.entry(key).or_default().extend(addresses);
            }
        }
        for addresses in served.slices.values_mut() {
            addresses.sort();
            // An address in two slices is one endpoint, if only endpoints are compared.
            if !self.profile.is_exact() {
                addresses.dedup();
            }
        }
        served.slices.retain(|_, addresses| !addresses.is_empty());
        if self.claims(Output::Endpoints) {
            let selecting = self.selecting()?;
            for object in self.list_all(Kind::Endpoints).await? {
                let key = key(&object);
                if selecting.contains(&key) || object["metadata"]["labels"][MANAGED] == "endpoint-controller" {
                    insert(&mut served.endpoints, key, ready(&object));
                }
            }
        }
        Ok(served)
    }

    /// Returns the Services with a selector.
    fn selecting(&self) -> Result<BTreeSet<Key>> {
        let services = self.server()?.objects("", "services");
        Ok(services.iter().filter(|service| !service["spec"]["selector"].is_null()).map(key).collect())
    }
}

/// Returns the Service and the ready addresses of a slice; `None` if it belongs to no Service.
pub(super) fn in_slice(slice: &Value) -> Option<(Key, Vec<String>)> {
    Some(((key(slice).0, service_of(slice)?.to_owned()), ready(slice)))
}

/// Returns the ready addresses of a slice or an Endpoints object.
pub(super) fn ready(object: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let endpoints = list(&object["endpoints"]).into_iter().filter(|endpoint| endpoint["conditions"]["ready"] != false);
    let subsets = list(&object["subsets"]).into_iter().flat_map(|subset| list(&subset["addresses"]));
    let addresses = endpoints.map(|mut it| it["addresses"][0].take()).chain(subsets.map(|mut it| it["ip"].take()));
    addresses.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// Fails unless more objects of this kind would be missing than a controller may take for a coincidence.
pub(super) fn expect_many(what: &str, count: usize) -> Result<()> {
    ensure!(count > 50, "{what}: {count} are too few to be conspicuous");
    Ok(())
}

fn pod_name(generation: usize, number: usize) -> String {
    format!("pod-{generation}-{number}")
}

/// Returns namespace and name of an object.
pub(super) fn key(object: &Value) -> Key {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

fn insert(into: &mut Addresses, key: Key, mut addresses: Vec<String>) {
    addresses.sort();
    if !addresses.is_empty() {
        into.insert(key, addresses);
    }
}

fn differences(what: &str, expect: &Addresses, found: &Addresses) -> Vec<String> {
    let keys: BTreeSet<_> = expect.keys().chain(found.keys()).collect();
    let differs = keys.into_iter().filter(|key| expect.get(key) != found.get(key));
    let line =
        |key: &Key| format!("{what} of {}/{}: {:?} instead of {:?}", key.0, key.1, found.get(key), expect.get(key));
    differs.map(line).collect()
}
