//! Objects of the scenarios: Services and Pods, and the slices and Endpoints for them.

use anyhow::Result;
use serde_json::{Value, json};

use super::{World, fleet};
use crate::{Kind, MANAGED_BY_LABEL, Output, SERVICE_NAME_LABEL, objects, profile::upstream_manager};

/// Address of the Pod that becomes ready in [`World::three_events`].
const FIRST: &str = "10.1.0.1";

impl World {
    /// Creates a Service that selects the Pods whose label `app` is its name.
    pub(super) async fn service(&self, name: &str) -> Result<()> {
        self.service_with(name, json!({})).await
    }

    pub(super) async fn service_with(&self, name: &str, metadata: Value) -> Result<()> {
        let (kind, mut service) = objects::service(&self.namespace, name);
        json_patch::merge(&mut service["metadata"], &metadata);
        self.create(kind, service).await
    }

    /// Creates a Service without a selector, and an Endpoints object of the same name with these addresses.
    pub(super) async fn own_endpoints(&self, name: &str, addresses: &[&str]) -> Result<()> {
        for (kind, object) in objects::own(&self.namespace, name, addresses) {
            self.create(kind, object).await?;
        }
        Ok(())
    }

    pub(super) async fn service_without_selector(&self, name: &str) -> Result<()> {
        let [(kind, service), _] = objects::own(&self.namespace, name, &[]);
        self.create(kind, service).await
    }

    /// Creates Endpoints alone.
    pub(super) async fn endpoints_without_service(&self, name: &str, addresses: &[&str]) -> Result<()> {
        let [_, (kind, endpoints)] = objects::own(&self.namespace, name, addresses);
        self.create(kind, endpoints).await
    }

    /// Creates a Pod with an address and makes it ready or unready.
    pub(super) async fn pod(&self, app: &str, name: &str, ip: &str, ready: bool) -> Result<()> {
        let (namespace, node) = (&self.namespace, &self.namespace);
        let (kind, mut pod) = objects::pod(objects::Pod { namespace, service: app, name, ip, node });
        pod["status"]["conditions"] = json!([]);
        self.create(kind, pod).await?;
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
        self.until_of(Output::ServiceSlices, service, addresses).await
    }

    pub(super) async fn until_mirrored(&self, service: &str, addresses: &[&str]) -> Result<Vec<Value>> {
        self.until_of(Output::MirroredSlices, service, addresses).await
    }

    pub(super) async fn until_endpoints(&self, service: &str, addresses: &[&str]) -> Result<()> {
        self.until_of(Output::Endpoints, service, addresses).await.map(drop)
    }

    /// Waits until the objects of a Service have exactly these ready addresses, in sorted order. Returns the objects.
    /// Without a claim of the output, returns none at once.
    pub(super) async fn until_of(&self, output: Output, service: &str, addresses: &[&str]) -> Result<Vec<Value>> {
        if !self.claims(output) {
            return Ok(Vec::new());
        }
        let is_exact = self.profile.is_exact();
        let of_service = |object: &Value| match output {
            Output::Endpoints => object["metadata"]["name"] == *service,
            _ => service_of(object) == Some(service),
        };
        let has = |objects: &[Value]| {
            let of_service: Vec<_> = objects.iter().filter(|it| of_service(it)).collect();
            let mut ready: Vec<_> = of_service.iter().flat_map(|it| fleet::ready(it)).collect();
            ready.sort();
            // If only endpoints are compared, an address in two slices is one endpoint, and an object without addresses
            // equals no object.
            if !is_exact {
                ready.dedup();
            }
            ready == addresses && !(is_exact && output == Output::Endpoints && of_service.is_empty())
        };
        let kind = if output == Output::Endpoints { Kind::Endpoints } else { Kind::EndpointSlice };
        let what = format!("the {} of {service} have {addresses:?}", output.name());
        let mut found = self.until(&what, kind, has).await?;
        found.retain(of_service);
        Ok(found)
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
        let before = self.writes()?.len();
        self.ready("a", ready).await?;
        if self.claims(Output::Endpoints) {
            self.until_endpoints("web", addresses).await?;
        } else if writes {
            let mut wait = self.wait(self.limits.state);
            while self.writes()?.len() == before {
                wait.again(|| "no slice is written after a change of a Pod".to_owned()).await?;
            }
        }
        self.settled().await
    }
}

pub(super) fn service_of(slice: &Value) -> Option<&str> {
    slice["metadata"]["labels"][SERVICE_NAME_LABEL].as_str()
}

pub(super) fn slices_of<'a>(slices: &'a [Value], service: &str) -> Vec<&'a Value> {
    slices.iter().filter(|slice| service_of(slice) == Some(service)).collect()
}

pub(super) fn mirrored<'a>(slices: &'a [Value], service: &str) -> Vec<&'a Value> {
    let by = |slice: &Value| slice["metadata"]["labels"][MANAGED_BY_LABEL] == upstream_manager(Output::MirroredSlices);
    slices_of(slices, service).into_iter().filter(|slice| by(slice)).collect()
}
