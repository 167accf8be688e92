//! `discovery.k8s.io/v1` EndpointSlice.

use std::collections::BTreeSet;

use k8s_openapi::api::discovery::v1::{Endpoint, EndpointPort, EndpointSlice};
use serde_json::{Map, Value, json};

use super::endpoints::check_protocol;
use super::{Resource, metadata, shape};
use crate::address::{Family, check_slice_ip};
use crate::field::FieldErrors;
use crate::names::{NameRule, check_domain_name, check_label_value};
use crate::optional::optional;

pub(crate) const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];
const MAX_ENDPOINTS: usize = 1_000;
const MAX_PORTS: usize = 20_000;
const MAX_ADDRESSES: usize = 100;
const MAX_HINTS: usize = 8;

/// Returns the endpoints. Whether the field is optional depends on the version of Kubernetes of `k8s-openapi`.
fn endpoints(slice: &EndpointSlice) -> &[Endpoint] {
    optional::<&Vec<Endpoint>>(&slice.endpoints).map(Vec::as_slice).unwrap_or_default()
}

fn ports(slice: &EndpointSlice) -> &[EndpointPort] {
    slice.ports.as_deref().unwrap_or_default()
}

impl Resource for EndpointSlice {
    fn apply_defaults(&mut self) {
        for port in self.ports.iter_mut().flatten() {
            port.name.get_or_insert_default();
            port.protocol.get_or_insert_with(|| "TCP".to_owned());
        }
    }

    fn prepare_create(&mut self) {
        self.metadata.generation = Some(1);
    }

    fn prepare_update(&mut self, old: &Self) {
        // As upstream, changes of labels increment the generation; changes of annotations and owner references do not.
        let labels = |slice: &Self| slice.metadata.labels.clone().unwrap_or_default();
        let same = labels(self) == labels(old)
            && self.address_type == old.address_type
            && endpoints(self) == endpoints(old)
            && ports(self) == ports(old);
        metadata::count_generation(&mut self.metadata, &old.metadata, !same);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        validate_type_and_ports(self, errors);
        validate_endpoints(self, errors);
    }

    fn validate_over(&self, old: &Self, errors: &mut FieldErrors) {
        validate_type_and_ports(self, errors);
        // As upstream: earlier versions may have accepted them.
        if endpoints(self) != endpoints(old) {
            validate_endpoints(self, errors);
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.address_type != old.address_type {
            errors.invalid("addressType", &self.address_type, "field is immutable");
        }
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::always(object, &[("addressType", json!("")), ("endpoints", Value::Null), ("ports", Value::Null)]);
        for endpoint in shape::items(object, "endpoints") {
            shape::always(endpoint, &[("addresses", Value::Null), ("conditions", json!({}))]);
        }
    }
}

fn validate_type_and_ports(slice: &EndpointSlice, errors: &mut FieldErrors) {
    if slice.address_type.is_empty() {
        errors.required("addressType", "");
    } else if !ADDRESS_TYPES.contains(&slice.address_type.as_str()) {
        errors.unsupported("addressType", &slice.address_type, &ADDRESS_TYPES);
    }
    validate_ports(ports(slice), errors);
}

fn validate_endpoints(slice: &EndpointSlice, errors: &mut FieldErrors) {
    let endpoints = endpoints(slice);
    if endpoints.len() > MAX_ENDPOINTS {
        errors.too_many("endpoints", endpoints.len(), MAX_ENDPOINTS);
    } else {
        for (i, endpoint) in endpoints.iter().enumerate() {
            validate_endpoint(&format!("endpoints[{i}]"), endpoint, &slice.address_type, errors);
        }
    }
}

fn validate_endpoint(field: &str, endpoint: &Endpoint, address_type: &str, errors: &mut FieldErrors) {
    let list = format!("{field}.addresses");
    if endpoint.addresses.is_empty() {
        errors.required(&list, "must contain at least 1 address");
    } else if endpoint.addresses.len() > MAX_ADDRESSES {
        errors.too_many(&list, endpoint.addresses.len(), MAX_ADDRESSES);
    }
    for (i, address) in endpoint.addresses.iter().enumerate() {
        validate_address(&list, &format!("{list}[{i}]"), address, address_type, errors);
    }
    if let Some(hostname) = &endpoint.hostname {
        NameRule::Label.check(&format!("{field}.hostname"), hostname, errors);
    }
    if let Some(node) = &endpoint.node_name {
        NameRule::Subdomain.check(&format!("{field}.nodeName"), node, errors);
    }
    if let Some(hints) = &endpoint.hints {
        let zones = hints.for_zones.iter().flatten().map(|zone| zone.name.as_str());
        validate_hints(&format!("{field}.hints.forZones"), zones, check_label_value, errors);
        let nodes = hints.for_nodes.iter().flatten().map(|node| node.name.as_str());
        let check = |field: &str, name: &str, errors: &mut FieldErrors| NameRule::Subdomain.check(field, name, errors);
        validate_hints(&format!("{field}.hints.forNodes"), nodes, check, errors);
    }
}

fn validate_hints<'a>(
    field: &str,
    names: impl Iterator<Item = &'a str>,
    check: fn(&str, &str, &mut FieldErrors),
    errors: &mut FieldErrors,
) {
    let names: Vec<&str> = names.collect();
    if names.len() > MAX_HINTS {
        return errors.too_many(field, names.len(), MAX_HINTS);
    }
    for (i, name) in names.iter().enumerate() {
        let field = format!("{field}[{i}].name");
        if names[..i].contains(name) {
            errors.duplicate(&field, name);
        }
        check(&field, name, errors);
    }
}

fn validate_address(list: &str, field: &str, address: &str, address_type: &str, errors: &mut FieldErrors) {
    let family = match address_type {
        "IPv4" => Family::V4,
        "IPv6" => Family::V6,
        "FQDN" => return check_domain_name(field, address, errors),
        // The unknown type was reported already.
        _ => return,
    };
    check_slice_ip(list, field, address, family, errors);
}

fn validate_ports(ports: &[EndpointPort], errors: &mut FieldErrors) {
    if ports.len() > MAX_PORTS {
        errors.too_many("ports", ports.len(), MAX_PORTS);
        return;
    }
    let mut names = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let field = format!("ports[{i}]");
        let name = port.name.as_deref().unwrap_or_default();
        if !name.is_empty() {
            NameRule::Label.check(&format!("{field}.name"), name, errors);
        }
        if !names.insert(name) {
            errors.duplicate(format!("{field}.name"), name);
        }
        match port.protocol.as_deref() {
            None | Some("") => errors.required(format!("{field}.protocol"), ""),
            protocol => check_protocol(&field, protocol, errors),
        }
        // As upstream, the port number is not checked: a slice may have no number (all ports), or one that a custom
        // controller gives a meaning.
        if let Some(app_protocol) = &port.app_protocol {
            crate::names::check_qualified_name(&format!("{field}.appProtocol"), app_protocol, errors);
        }
    }
}
