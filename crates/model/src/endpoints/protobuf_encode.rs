//! Encoding of Endpoints to protobuf.

use kube_wire::protobuf::Writer;

use super::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
use crate::protobuf_encode::{ToMessage, messages};

/// Writes all fields but the metadata.
impl ToMessage for Endpoints {
    fn write(&self, message: &mut Writer) {
        messages(message, 2, &self.subsets);
    }
}

impl ToMessage for EndpointSubset {
    fn write(&self, message: &mut Writer) {
        messages(message, 1, &self.addresses);
        messages(message, 2, &self.not_ready_addresses);
        messages(message, 3, &self.ports);
    }
}

impl ToMessage for EndpointAddress {
    fn write(&self, message: &mut Writer) {
        message.display(1, &self.ip);
        messages(message, 2, &self.target_ref);
        message.text(3, &self.hostname);
        if let Some(node) = &self.node_name {
            message.text(4, node);
        }
    }
}

impl ToMessage for SubsetPort {
    fn write(&self, message: &mut Writer) {
        message.text(1, &self.name);
        message.number(2, self.port);
        message.text(3, &self.protocol);
        if let Some(protocol) = &self.app_protocol {
            message.text(4, protocol);
        }
    }
}
