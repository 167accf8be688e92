//! Encoding of EndpointSlices to protobuf.

use kube_wire::protobuf::Writer;

use super::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
use crate::Text;
use crate::protobuf_encode::{ToMessage, map, messages};

/// Writes all fields but the metadata.
impl ToMessage for EndpointSlice {
    fn write(&self, message: &mut Writer) {
        messages(message, 2, &self.endpoints);
        messages(message, 3, &self.ports);
        message.text(4, self.address_type.as_str());
    }
}

impl ToMessage for Endpoint {
    fn write(&self, message: &mut Writer) {
        for address in &self.addresses {
            message.display(1, address);
        }
        message.message(2, |it| self.conditions.write(it));
        optional(message, 3, self.hostname.as_ref());
        messages(message, 4, &self.target_ref);
        map(message, 5, &self.deprecated_topology);
        optional(message, 6, self.node_name.as_ref());
        optional(message, 7, self.zone.as_ref());
        messages(message, 8, self.hints.as_deref());
    }
}

impl ToMessage for EndpointConditions {
    fn write(&self, message: &mut Writer) {
        let conditions = [(1, self.ready), (2, self.serving), (3, self.terminating)];
        for (number, condition) in conditions {
            if let Some(condition) = condition {
                message.boolean(number, condition);
            }
        }
    }
}

impl ToMessage for EndpointHints {
    fn write(&self, message: &mut Writer) {
        for (number, names) in [(1, &self.for_zones), (2, &self.for_nodes)] {
            for name in names {
                message.message(number, |it| it.text(1, name));
            }
        }
    }
}

impl ToMessage for EndpointPort {
    fn write(&self, message: &mut Writer) {
        optional(message, 1, self.name.as_ref());
        optional(message, 2, self.protocol.as_ref());
        if let Some(port) = self.port {
            message.number(3, port);
        }
        optional(message, 4, self.app_protocol.as_ref());
    }
}

fn optional(message: &mut Writer, number: u32, text: Option<&Text>) {
    if let Some(text) = text {
        message.text(number, text);
    }
}
