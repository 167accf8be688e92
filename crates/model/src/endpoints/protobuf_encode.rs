//! Encoding of Endpoints to protobuf.

use kube_wire::protobuf::Writer;

use super::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
use crate::protobuf::fields::{endpoint_address, endpoint_subset, endpoints, subset_port};
use crate::protobuf_encode::{ToMessage, messages};

/// Writes all fields but the metadata.
impl ToMessage for Endpoints {
    fn write(&self, message: &mut Writer) {
        messages(message, endpoints::SUBSETS, &self.subsets);
    }
}

impl ToMessage for EndpointSubset {
    fn write(&self, message: &mut Writer) {
        messages(message, endpoint_subset::ADDRESSES, &self.addresses);
        messages(message, endpoint_subset::NOT_READY_ADDRESSES, &self.not_ready_addresses);
        messages(message, endpoint_subset::PORTS, &self.ports);
    }
}

impl ToMessage for EndpointAddress {
    fn write(&self, message: &mut Writer) {
        message.display(endpoint_address::IP, &self.ip);
        messages(message, endpoint_address::TARGET_REF, &self.target_ref);
        message.text(endpoint_address::HOSTNAME, &self.hostname);
        if let Some(node) = &self.node_name {
            message.text(endpoint_address::NODE_NAME, node);
        }
    }
}

impl ToMessage for SubsetPort {
    fn write(&self, message: &mut Writer) {
        message.text(subset_port::NAME, &self.name);
        message.number(subset_port::PORT, self.port);
        message.text(subset_port::PROTOCOL, &self.protocol);
        if let Some(protocol) = &self.app_protocol {
            message.text(subset_port::APP_PROTOCOL, protocol);
        }
    }
}
