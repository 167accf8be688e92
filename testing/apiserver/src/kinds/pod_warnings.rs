//! Warnings about the ports of containers, in Pods and in pod templates (Go: `warningsForPodSpecAndMeta`).

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ContainerPort, PodSpec};

/// Returns upstream's warnings about ports that two containers share, or that are ambiguous. `root` is the field path of
/// the spec.
pub(super) fn about_ports(root: &str, spec: &PodSpec) -> Vec<String> {
    let ports = ports(root, spec);
    let mut warnings = Vec::new();
    let mut others: BTreeMap<(i32, &str), Vec<&(String, &ContainerPort)>> = BTreeMap::new();
    for found in &ports {
        let (field, port) = found;
        if !host_ip(port).is_empty() && host_port(port) == 0 {
            warnings.push(format!("{field}: hostIP set without hostPort: {}", as_in_go(port)));
        }
        let same = others.entry((port.container_port, protocol(port))).or_default();
        warnings.extend(same.iter().filter_map(|(other_field, other)| {
            Some(format!("{field}: {} port definition with {other_field}", conflict(port, other)?))
        }));
        same.push(found);
    }
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (field, port) in &ports {
        let Some(name) = port.name.as_deref().filter(|name| !name.is_empty()) else { continue };
        let first = *names.entry(name).or_insert(field);
        if first != field {
            warnings.push(format!(
                "{field}: duplicate port name {name:?} with {first}, services and probes that select ports by name \
                 will use {first}"
            ));
        }
    }
    warnings
}

/// Returns all ports with their field paths, in upstream's order.
fn ports<'a>(root: &str, spec: &'a PodSpec) -> Vec<(String, &'a ContainerPort)> {
    let init = spec.init_containers.iter().flatten().map(|it| it.ports.as_deref());
    let main = spec.containers.iter().map(|it| it.ports.as_deref());
    let ephemeral = spec.ephemeral_containers.iter().flatten().map(|it| it.ports.as_deref());
    let init = init.enumerate().map(|(i, ports)| ("initContainers", i, ports));
    let main = main.enumerate().map(|(i, ports)| ("containers", i, ports));
    let ephemeral = ephemeral.enumerate().map(|(i, ports)| ("ephemeralContainers", i, ports));
    let of_container = |(list, i, ports): (&'static str, usize, Option<&'a [ContainerPort]>)| {
        let ports = ports.unwrap_or_default().iter().enumerate();
        ports.map(move |(j, port)| (format!("{root}.{list}[{i}].ports[{j}]"), port))
    };
    init.chain(main).chain(ephemeral).flat_map(of_container).collect()
}

/// Returns what is wrong with two definitions of the same number and protocol.
fn conflict(port: &ContainerPort, other: &ContainerPort) -> Option<&'static str> {
    let same_host_port = host_port(port) == host_port(other);
    if same_host_port && host_ip(port) == host_ip(other) {
        Some("duplicate")
    } else if host_port(port) == 0 || host_port(other) == 0 {
        Some("overlapping")
    } else if same_host_port && (host_ip(port).is_empty() != host_ip(other).is_empty()) {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

fn host_ip(port: &ContainerPort) -> &str {
    port.host_ip.as_deref().unwrap_or_default()
}

fn host_port(port: &ContainerPort) -> i32 {
    port.host_port.unwrap_or_default()
}

fn protocol(port: &ContainerPort) -> &str {
    port.protocol.as_deref().unwrap_or_default()
}

/// Formats a port as the verb `%+v` of Go's `fmt`.
fn as_in_go(port: &ContainerPort) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        port.name.as_deref().unwrap_or_default(),
        host_port(port),
        port.container_port,
        protocol(port),
        host_ip(port)
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    // Columns: the ports of the first and of the second container.
    #[rstest]
    #[case::other_numbers(json!([{"containerPort": 80}]), json!([{"containerPort": 81}]), &[])]
    #[case::other_protocols(json!([{"containerPort": 80}]), json!([{"containerPort": 80, "protocol": "UDP"}]), &[])]
    #[case::duplicate(json!([{"containerPort": 80}, {"containerPort": 80}]), json!([]),
        &["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"])]
    #[case::duplicate_in_another_container(json!([{"containerPort": 80}]), json!([{"containerPort": 80, "name": "b"}]),
        &["spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]"])]
    #[case::three(json!([{"containerPort": 80}, {"containerPort": 80}]), json!([{"containerPort": 80}]),
        &["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
          "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
          "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[1]"])]
    #[case::overlapping(json!([{"containerPort": 80, "hostPort": 80}]), json!([{"containerPort": 80}]),
        &["spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]"])]
    #[case::ambiguous(json!([{"containerPort": 80, "hostPort": 80}]),
        json!([{"containerPort": 80, "hostPort": 80, "hostIP": "192.0.2.1"}]),
        &["spec.containers[1].ports[0]: dangerously ambiguous port definition with spec.containers[0].ports[0]"])]
    #[case::other_host_ports(json!([{"containerPort": 80, "hostPort": 80}]), json!([{"containerPort": 80, "hostPort": 81}]), &[])]
    #[case::no_host_port(json!([{"containerPort": 80, "hostIP": "192.0.2.1"}]), json!([]),
        &["spec.containers[0].ports[0]: hostIP set without hostPort: \
           {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:192.0.2.1}"])]
    #[case::name(json!([{"containerPort": 80, "name": "a"}]), json!([{"containerPort": 81, "name": "a"}]),
        &["spec.containers[1].ports[0]: duplicate port name \"a\" with spec.containers[0].ports[0], services and probes \
           that select ports by name will use spec.containers[0].ports[0]"])]
    fn ports_of_containers(#[case] first: Value, #[case] second: Value, #[case] expect: &[&str]) {
        let mut spec = json!({"containers": [{"name": "a", "ports": first}, {"name": "b", "ports": second}]});
        for container in spec["containers"].as_array_mut().unwrap() {
            for port in container["ports"].as_array_mut().unwrap() {
                let protocol = port.get("protocol").cloned().unwrap_or_else(|| json!("TCP"));
                port["protocol"] = protocol;
            }
        }
        assert_eq!(about_ports("spec", &serde_json::from_value(spec).unwrap()), expect);
    }
}
