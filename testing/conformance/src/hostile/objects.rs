//! Objects of the scenarios: Services and Pods, and the slices and Endpoints for them.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{World, world::SLICES};
use crate::{Kind, MANAGED_BY_LABEL, Output, SERVICE_NAME_LABEL, profile::upstream_manager};

/// Address of the Pod that becomes ready in [`World::three_events`].
const FIRST: &str = "10.1.0.1";
/// Pause between two observations of the number of writes.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

impl World {
    /// Creates a Service that selects the Pods whose label `app` is its name.
    pub(super) async fn service(&self, name: &str) -> Result<Value> {
        self.service_with(name, json!({})).await
    }

    /// As [`service`](Self::service), with additional metadata.
    pub(super) async fn service_with(&self, name: &str, metadata: Value) -> Result<Value> {
        let mut metadata = metadata;
        metadata["name"] = json!(name);
        let spec = json!({"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]});
        self.create(Kind::Service, json!({"metadata": metadata, "spec": spec})).await
    }

    /// Creates a Service without a selector, and an Endpoints object of the same name with these addresses.
    pub(super) async fn own_endpoints(&self, name: &str, addresses: &[&str]) -> Result<()> {
        self.service_without_selector(name).await?;
        self.endpoints_without_service(name, addresses).await
    }

    /// Creates a Service without selector.
    pub(super) async fn service_without_selector(&self, name: &str) -> Result<()> {
        let ports = json!([{"name": "http", "port": 80}]);
        self.create(Kind::Service, json!({"metadata": {"name": name}, "spec": {"ports": ports}})).await?;
        Ok(())
    }

    /// Creates Endpoints alone.
    pub(super) async fn endpoints_without_service(&self, name: &str, addresses: &[&str]) -> Result<()> {
        let endpoints = json!({"metadata": {"name": name}, "subsets": subsets(addresses)});
        self.create(Kind::Endpoints, endpoints).await?;
        Ok(())
    }

    /// Creates a Pod with an address and makes it ready or unready.
    pub(super) async fn pod(&self, app: &str, name: &str, ip: &str, ready: bool) -> Result<()> {
        let container = json!({"name": "main", "image": "app:1"});
        let pod = json!({
            "metadata": {"name": name, "labels": {"app": app}}, "spec": {"nodeName": self.namespace, "containers": [container]}
        });
        self.create(Kind::Pod, pod).await?;
        self.merge_status(Kind::Pod, name, json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]})).await?;
        self.ready(name, ready).await
    }

    /// Makes a Pod ready or unready by one update of its status.
    pub(super) async fn ready(&self, pod: &str, ready: bool) -> Result<()> {
        let status = if ready { "True" } else { "False" };
        self.merge_status(Kind::Pod, pod, json!({"conditions": [{"type": "Ready", "status": status}]})).await?;
        Ok(())
    }

    /// Deletes a Pod with a grace period of 0 s.
    pub(super) async fn kill(&self, pod: &str) -> Result<()> {
        self.delete(Kind::Pod, pod, Some(json!({"gracePeriodSeconds": 0}))).await?;
        Ok(())
    }

    /// Waits until the slices of a Service with a selector have exactly these ready addresses, in sorted order. Returns
    /// the slices. Without a claim of such slices, returns none at once.
    pub(super) async fn until_slices(&self, service: &str, addresses: &[&str]) -> Result<Vec<Value>> {
        self.until_slices_of(Output::ServiceSlices, service, addresses).await
    }

    /// As [`until_slices`](Self::until_slices), for the mirrored slices of a Service.
    pub(super) async fn until_mirrored(&self, service: &str, addresses: &[&str]) -> Result<Vec<Value>> {
        self.until_slices_of(Output::MirroredSlices, service, addresses).await
    }

    pub(super) async fn until_slices_of(
        &self,
        output: Output,
        service: &str,
        addresses: &[&str],
    ) -> Result<Vec<Value>> {
        if !self.claims(output) {
            return Ok(Vec::new());
        }
        let what = format!("the slices of {service} have {addresses:?}");
        // An address in two slices is one endpoint, if only endpoints are compared.
        let has = |slices: &[Value]| {
            let mut ready = ready_in_slices(slices, service);
            if !self.profile.is_exact() {
                ready.dedup();
            }
            ready == addresses
        };
        let found = self.until(&what, Kind::EndpointSlice, has).await?;
        Ok(found.into_iter().filter(|slice| service_of(slice) == Some(service)).collect())
    }

    /// Waits until an Endpoints object has exactly these ready addresses, in sorted order. Without a claim of Endpoints,
    /// returns at once.
    pub(super) async fn until_endpoints(&self, service: &str, addresses: &[&str]) -> Result<()> {
        if !self.claims(Output::Endpoints) {
            return Ok(());
        }
        let what = format!("the Endpoints object {service} has {addresses:?}");
        let has = |all: &[Value]| match ready_in_endpoints(all, service) {
            Some(found) => found == addresses,
            // If only endpoints are compared, an object without addresses equals no object.
            None => !self.profile.is_exact() && addresses.is_empty(),
        };
        self.until(&what, Kind::Endpoints, has).await?;
        Ok(())
    }

    /// Waits until slices and Endpoints of a Service, as far as they are claimed, have exactly these ready addresses, in
    /// sorted order.
    pub(super) async fn until_both(&self, service: &str, addresses: &[&str]) -> Result<()> {
        self.until_slices(service, addresses).await?;
        self.until_endpoints(service, addresses).await
    }

    /// Waits until slices and Endpoints exist in the namespace, as far as the profile claims them. If only endpoints are
    /// compared, a Service without ready endpoints may have none.
    pub(super) async fn until_both_exist(&self) -> Result<()> {
        if !self.profile.is_exact() {
            return Ok(());
        }
        if self.claims(Output::Endpoints) {
            self.until("the Endpoints object exists", Kind::Endpoints, |all| !all.is_empty()).await?;
        }
        if self.claims(Output::ServiceSlices) {
            self.until("a slice exists", Kind::EndpointSlice, |all| !all.is_empty()).await?;
        }
        Ok(())
    }

    /// Creates a Service for two existing Pods, makes one of them ready, and then unready. Waits after each of these
    /// three events until the controllers have settled. `each_writes` states that each event must cause a write.
    pub(super) async fn three_events(&self, each_writes: bool) -> Result<()> {
        self.pod("web", "a", FIRST, false).await?;
        self.pod("web", "b", "10.1.0.2", false).await?;
        // If the events of the Pods arrived after that of the Service, they would trigger another sync.
        self.settled().await?;
        self.service("web").await?;
        self.until_both_exist().await?;
        self.settled().await?;
        self.ready_and_settled(true, &[FIRST], each_writes).await?;
        self.ready_and_settled(false, &[], each_writes).await
    }

    /// Makes the first Pod ready or unready, and waits until the controllers have reacted and settled. A policy may
    /// change the slices, so only Endpoints show that they have reacted, or, without a claim of Endpoints, a write.
    async fn ready_and_settled(&self, ready: bool, addresses: &[&str], writes: bool) -> Result<()> {
        let before = self.written(SLICES)?;
        self.ready("a", ready).await?;
        if self.claims(Output::Endpoints) {
            self.until_endpoints("web", addresses).await?;
        } else if let Some(before) = before.filter(|_| writes) {
            let end = self.clock().now() + self.limits.state;
            while self.written(SLICES)? == Some(before) {
                let limit = self.limits.state.as_secs();
                ensure!(
                    self.clock().now() < end,
                    "no slice is written within {limit} s of a change of a Pod\n{}",
                    self.log()?
                );
                sleep(PAUSE).await;
            }
        }
        self.settled().await
    }

    /// Returns the number of writes to a resource, accepted or not.
    fn written(&self, resource: &str) -> Result<Option<usize>> {
        let writes = self.writes()?;
        Ok(writes.map(|writes| writes.iter().filter(|write| write.resource == resource).count()))
    }
}

/// Returns the subsets of an Endpoints object with these ready addresses.
pub(super) fn subsets(addresses: &[&str]) -> Value {
    let addresses: Vec<_> = addresses.iter().map(|ip| json!({"ip": ip})).collect();
    json!([{"addresses": addresses, "ports": [{"name": "http", "port": 80}]}])
}

/// Returns the name of the Service of a slice, from its label.
pub(super) fn service_of(slice: &Value) -> Option<&str> {
    slice["metadata"]["labels"][SERVICE_NAME_LABEL].as_str()
}

/// Returns the slices of a Service.
pub(super) fn slices_of<'a>(slices: &'a [Value], service: &str) -> Vec<&'a Value> {
    slices.iter().filter(|slice| service_of(slice) == Some(service)).collect()
}

/// Returns the mirrored slices of a Service.
pub(super) fn mirrored<'a>(slices: &'a [Value], service: &str) -> Vec<&'a Value> {
    let by = |slice: &Value| slice["metadata"]["labels"][MANAGED_BY_LABEL] == upstream_manager(Output::MirroredSlices);
    slices_of(slices, service).into_iter().filter(|slice| by(slice)).collect()
}

/// Returns the ready addresses in the slices of a Service, sorted.
fn ready_in_slices(slices: &[Value], service: &str) -> Vec<String> {
    let slices = slices_of(slices, service);
    let endpoints = slices.iter().flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
    let ready = endpoints.filter(|endpoint| endpoint["conditions"]["ready"] != false);
    let mut found: Vec<_> = ready.filter_map(|it| it["addresses"][0].as_str()).map(str::to_owned).collect();
    found.sort();
    found
}

/// Returns the ready addresses of an Endpoints object, sorted; `None` if it does not exist.
fn ready_in_endpoints(all: &[Value], name: &str) -> Option<Vec<String>> {
    let object = all.iter().find(|object| object["metadata"]["name"] == *name)?;
    let subsets = object["subsets"].as_array().into_iter().flatten();
    let addresses = subsets.flat_map(|subset| subset["addresses"].as_array().into_iter().flatten());
    let mut found: Vec<_> = addresses.filter_map(|it| it["ip"].as_str()).map(str::to_owned).collect();
    found.sort();
    Some(found)
}
