//! Objects of the scenarios: Services and Pods, and the slices and Endpoints for them.

use anyhow::Result;
use kube_endpoints_conformance::Kind;
use serde_json::{Value, json};

use crate::world::World;

const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// Address of the Pod that becomes ready in [`World::three_events`].
const FIRST: &str = "10.1.0.1";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

impl World {
    /// Creates a Service that selects the Pods whose label `app` is its name.
    pub(crate) async fn service(&self, name: &str) -> Result<Value> {
        self.service_with(name, json!({})).await
    }

    /// As [`service`](Self::service), with additional metadata.
    pub(crate) async fn service_with(&self, name: &str, metadata: Value) -> Result<Value> {
        let mut metadata = metadata;
        metadata["name"] = json!(name);
        let spec = json!({"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]});
        self.create(Kind::Service, json!({"metadata": metadata, "spec": spec})).await
    }

    /// Creates a Service without a selector, and an Endpoints object of the same name with these addresses.
    pub(crate) async fn own_endpoints(&self, name: &str, addresses: &[&str]) -> Result<()> {
        self.service_without_selector(name).await?;
        self.endpoints_without_service(name, addresses).await
    }

    /// Creates a Service without selector.
    pub(crate) async fn service_without_selector(&self, name: &str) -> Result<()> {
        let ports = json!([{"name": "http", "port": 80}]);
        self.create(Kind::Service, json!({"metadata": {"name": name}, "spec": {"ports": ports}})).await?;
        Ok(())
    }

    /// Creates Endpoints alone.
    pub(crate) async fn endpoints_without_service(&self, name: &str, addresses: &[&str]) -> Result<()> {
        let endpoints = json!({"metadata": {"name": name}, "subsets": subsets(addresses)});
        self.create(Kind::Endpoints, endpoints).await?;
        Ok(())
    }

    /// Creates a Pod with an address and makes it ready or unready.
    pub(crate) async fn pod(&self, app: &str, name: &str, ip: &str, ready: bool) -> Result<()> {
        let container = json!({"name": "main", "image": "app:1"});
        let pod = json!({
            "metadata": {"name": name, "labels": {"app": app}}, "spec": {"nodeName": self.namespace, "containers": [container]}
        });
        self.create(Kind::Pod, pod).await?;
        self.merge_status(Kind::Pod, name, json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]})).await?;
        self.ready(name, ready).await
    }

    /// Makes a Pod ready or unready by one update of its status.
    pub(crate) async fn ready(&self, pod: &str, ready: bool) -> Result<()> {
        let status = if ready { "True" } else { "False" };
        self.merge_status(Kind::Pod, pod, json!({"conditions": [{"type": "Ready", "status": status}]})).await?;
        Ok(())
    }

    /// Deletes a Pod with a grace period of 0 s.
    pub(crate) async fn kill(&self, pod: &str) -> Result<()> {
        self.delete(Kind::Pod, pod, Some(json!({"gracePeriodSeconds": 0}))).await?;
        Ok(())
    }

    /// Waits until the slices of a Service have exactly these ready addresses, in sorted order. Returns the slices.
    pub(crate) async fn until_slices(&self, service: &str, addresses: &[&str]) -> Result<Vec<Value>> {
        let what = format!("the slices of {service} have {addresses:?}");
        let found =
            self.until(&what, Kind::EndpointSlice, |slices| ready_in_slices(slices, service) == addresses).await?;
        Ok(found.into_iter().filter(|slice| service_of(slice) == Some(service)).collect())
    }

    /// Waits until an Endpoints object has exactly these ready addresses, in sorted order.
    pub(crate) async fn until_endpoints(&self, service: &str, addresses: &[&str]) -> Result<()> {
        let what = format!("the Endpoints object {service} has {addresses:?}");
        self.until(&what, Kind::Endpoints, |all| ready_in_endpoints(all, service).is_some_and(|it| it == addresses))
            .await?;
        Ok(())
    }

    /// Waits until slices and Endpoints of a Service have exactly these ready addresses, in sorted order.
    pub(crate) async fn until_both(&self, service: &str, addresses: &[&str]) -> Result<()> {
        self.until_slices(service, addresses).await?;
        self.until_endpoints(service, addresses).await
    }

    /// Creates a Service for two existing Pods, makes one of them ready, and then unready. Waits after each of these
    /// three events until the controllers have settled.
    pub(crate) async fn three_events(&self) -> Result<()> {
        self.pod("web", "a", FIRST, false).await?;
        self.pod("web", "b", "10.1.0.2", false).await?;
        // If the events of the Pods arrived after that of the Service, they would trigger another sync.
        self.settled().await?;
        self.service("web").await?;
        self.until("the Endpoints object exists", Kind::Endpoints, |all| !all.is_empty()).await?;
        self.until("a slice exists", Kind::EndpointSlice, |all| !all.is_empty()).await?;
        self.settled().await?;
        self.ready("a", true).await?;
        self.until_endpoints("web", &[FIRST]).await?;
        self.settled().await?;
        self.ready("a", false).await?;
        self.until_endpoints("web", &[]).await?;
        self.settled().await
    }
}

/// Returns the subsets of an Endpoints object with these ready addresses.
pub(crate) fn subsets(addresses: &[&str]) -> Value {
    let addresses: Vec<_> = addresses.iter().map(|ip| json!({"ip": ip})).collect();
    json!([{"addresses": addresses, "ports": [{"name": "http", "port": 80}]}])
}

/// Returns the name of the Service of a slice, from its label.
pub(crate) fn service_of(slice: &Value) -> Option<&str> {
    slice["metadata"]["labels"][SERVICE_NAME].as_str()
}

/// Returns the slices of a Service.
pub(crate) fn slices_of<'a>(slices: &'a [Value], service: &str) -> Vec<&'a Value> {
    slices.iter().filter(|slice| service_of(slice) == Some(service)).collect()
}

/// Returns the mirrored slices of a Service.
pub(crate) fn mirrored<'a>(slices: &'a [Value], service: &str) -> Vec<&'a Value> {
    let by = |slice: &Value| slice["metadata"]["labels"][MANAGED_BY] == "endpointslicemirroring-controller.k8s.io";
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
