//! Decoding of Endpoints from protobuf.

use kube_wire::protobuf::Field;

use super::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
use crate::protobuf::fields::{endpoint_address, endpoint_subset, endpoints, object, subset_port};
use crate::protobuf::{Message, Result, from_str, message, target, text};

impl Message for Endpoints {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            object::METADATA => self.metadata.merge(field.message()?)?,
            endpoints::SUBSETS => self.subsets.push(message(field)?),
            _ => {}
        }
        Ok(())
    }

    fn shrink(&mut self) {
        self.subsets.shrink_to_fit();
    }
}

impl Message for EndpointSubset {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            endpoint_subset::ADDRESSES => self.addresses.push(message(field)?),
            endpoint_subset::NOT_READY_ADDRESSES => self.not_ready_addresses.push(message(field)?),
            endpoint_subset::PORTS => self.ports.push(message(field)?),
            _ => {}
        }
        Ok(())
    }

    fn shrink(&mut self) {
        self.addresses.shrink_to_fit();
        self.not_ready_addresses.shrink_to_fit();
        self.ports.shrink_to_fit();
    }
}

impl Message for EndpointAddress {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            endpoint_address::IP => self.ip = from_str(field)?,
            endpoint_address::TARGET_REF => target(&mut self.target_ref, field)?,
            endpoint_address::HOSTNAME => self.hostname = text(field)?,
            endpoint_address::NODE_NAME => self.node_name = Some(text(field)?),
            _ => {}
        }
        Ok(())
    }
}

impl Message for SubsetPort {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            subset_port::NAME => self.name = text(field)?,
            subset_port::PORT => self.port = field.as_i32()?,
            subset_port::PROTOCOL => self.protocol = text(field)?,
            subset_port::APP_PROTOCOL => self.app_protocol = Some(text(field)?),
            _ => {}
        }
        Ok(())
    }
}
