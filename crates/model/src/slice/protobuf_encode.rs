//! Encoding of EndpointSlices to protobuf.

use kube_wire::protobuf::Writer;

use super::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
use crate::Text;
use crate::protobuf::fields::{
    endpoint, endpoint_conditions, endpoint_hints, endpoint_port, endpoint_slice, named_hint,
};
use crate::protobuf_encode::{ToMessage, map, messages};

/// Writes all fields but the metadata.
impl ToMessage for EndpointSlice {
    fn write(&self, message: &mut Writer) {
        messages(message, endpoint_slice::ENDPOINTS, &self.endpoints);
        messages(message, endpoint_slice::PORTS, &self.ports);
        message.text(endpoint_slice::ADDRESS_TYPE, self.address_type.as_str());
    }
}

impl ToMessage for Endpoint {
    fn write(&self, message: &mut Writer) {
        for address in &self.addresses {
            message.display(endpoint::ADDRESSES, address);
        }
        message.message(endpoint::CONDITIONS, |it| self.conditions.write(it));
        optional(message, endpoint::HOSTNAME, self.hostname.as_ref());
        messages(message, endpoint::TARGET_REF, &self.target_ref);
        map(message, endpoint::DEPRECATED_TOPOLOGY, &self.deprecated_topology);
        optional(message, endpoint::NODE_NAME, self.node_name.as_ref());
        optional(message, endpoint::ZONE, self.zone.as_ref());
        messages(message, endpoint::HINTS, self.hints.as_deref());
    }
}

impl ToMessage for EndpointConditions {
    fn write(&self, message: &mut Writer) {
        let conditions = [
            (endpoint_conditions::READY, self.ready),
            (endpoint_conditions::SERVING, self.serving),
            (endpoint_conditions::TERMINATING, self.terminating),
        ];
        for (number, condition) in conditions {
            if let Some(condition) = condition {
                message.boolean(number, condition);
            }
        }
    }
}

impl ToMessage for EndpointHints {
    fn write(&self, message: &mut Writer) {
        for (number, names) in
            [(endpoint_hints::FOR_ZONES, &self.for_zones), (endpoint_hints::FOR_NODES, &self.for_nodes)]
        {
            for name in names {
                message.message(number, |it| it.text(named_hint::NAME, name));
            }
        }
    }
}

impl ToMessage for EndpointPort {
    fn write(&self, message: &mut Writer) {
        optional(message, endpoint_port::NAME, self.name.as_ref());
        optional(message, endpoint_port::PROTOCOL, self.protocol.as_ref());
        if let Some(port) = self.port {
            message.number(endpoint_port::PORT, port);
        }
        optional(message, endpoint_port::APP_PROTOCOL, self.app_protocol.as_ref());
    }
}

fn optional(message: &mut Writer, number: u32, text: Option<&Text>) {
    if let Some(text) = text {
        message.text(number, text);
    }
}
