//! Conversion of Pods from the type of k8s-openapi.

use k8s_openapi::api::core::v1 as core;

use super::{NamedPort, Pod, PodBuilder, is_sidecar};
use crate::projection::Metadata;
use crate::{Address, intern};

impl From<&core::Pod> for Pod {
    fn from(it: &core::Pod) -> Self {
        let mut builder = PodBuilder::default();
        builder.metadata(Metadata::from(&it.metadata));
        if let Some(spec) = &it.spec {
            let text = |value: &Option<String>| intern::text(value.as_deref().unwrap_or_default());
            builder.pod.hostname = text(&spec.hostname);
            builder.pod.subdomain = text(&spec.subdomain);
            builder.pod.node_name = text(&spec.node_name);
            builder.restart_policy(spec.restart_policy.as_deref().unwrap_or_default());
            let sidecars = spec.init_containers.iter().flatten();
            let sidecars = sidecars.filter(|it| it.restart_policy.as_deref().is_some_and(is_sidecar));
            builder.container_ports = spec.containers.iter().flat_map(named_ports).collect();
            builder.sidecar_ports = sidecars.flat_map(named_ports).collect();
        }
        if let Some(status) = &it.status {
            builder.phase(status.phase.as_deref().unwrap_or_default());
            builder.pod_ip(status.pod_ip.as_deref().unwrap_or_default());
            builder.pod.pod_ips = status.pod_ips.iter().flatten().map(|it| Address::new(&it.ip)).collect();
            for condition in status.conditions.iter().flatten() {
                let changed = || condition.last_transition_time.as_ref().map(|time| time.0);
                builder.condition(&condition.type_, &condition.status, changed);
            }
        }
        builder.build()
    }
}

fn named_ports(container: &core::Container) -> impl Iterator<Item = NamedPort> {
    container.ports.iter().flatten().filter_map(|port| {
        let name = port.name.as_deref().filter(|name| !name.is_empty())?;
        let protocol = intern::text(port.protocol.as_deref().unwrap_or_default());
        Some(NamedPort { name: intern::text(name), protocol, port: port.container_port })
    })
}
