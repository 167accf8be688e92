//! Decoding of Endpoints from protobuf.

use kube_wire::protobuf::Fields;

use super::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
use crate::protobuf::fields::{endpoint_address, endpoint_subset, endpoints, object, subset_port};
use crate::protobuf::{Message, Result, from_str, message, text};
use crate::{ObjectReference, TargetRef};

impl Message for Endpoints {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                object::METADATA => it.metadata.merge(field.message()?)?,
                endpoints::SUBSETS => it.subsets.push(message(&field)?),
                _ => {}
            }
        }
        it.subsets.shrink_to_fit();
        Ok(())
    }
}

impl Message for EndpointSubset {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                endpoint_subset::ADDRESSES => it.addresses.push(message(&field)?),
                endpoint_subset::NOT_READY_ADDRESSES => it.not_ready_addresses.push(message(&field)?),
                endpoint_subset::PORTS => it.ports.push(message(&field)?),
                _ => {}
            }
        }
        it.addresses.shrink_to_fit();
        it.not_ready_addresses.shrink_to_fit();
        it.ports.shrink_to_fit();
        Ok(())
    }
}

impl Message for EndpointAddress {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let (it, mut target): (_, Option<ObjectReference>) = (self, None);
        for field in fields {
            let field = field?;
            match field.number {
                endpoint_address::IP => it.ip = from_str(&field)?,
                endpoint_address::TARGET_REF => target.get_or_insert_default().merge(field.message()?)?,
                endpoint_address::HOSTNAME => it.hostname = text(&field)?,
                endpoint_address::NODE_NAME => it.node_name = Some(text(&field)?),
                _ => {}
            }
        }
        it.target_ref = target.map(TargetRef::from);
        Ok(())
    }
}

impl Message for SubsetPort {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                subset_port::NAME => it.name = text(&field)?,
                subset_port::PORT => it.port = field.as_i32()?,
                subset_port::PROTOCOL => it.protocol = text(&field)?,
                subset_port::APP_PROTOCOL => it.app_protocol = Some(text(&field)?),
                _ => {}
            }
        }
        Ok(())
    }
}
