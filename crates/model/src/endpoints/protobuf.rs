//! Decoding of Endpoints from protobuf.

use kube_wire::protobuf::Fields;

use super::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
use crate::protobuf::{Message, Result, from_str, message, text};
use crate::{ObjectReference, TargetRef};

impl Message for Endpoints {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.metadata.merge(field.message()?)?,
                2 => it.subsets.push(message(&field)?),
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
                1 => it.addresses.push(message(&field)?),
                2 => it.not_ready_addresses.push(message(&field)?),
                3 => it.ports.push(message(&field)?),
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
                1 => it.ip = from_str(&field)?,
                2 => target.get_or_insert_default().merge(field.message()?)?,
                3 => it.hostname = text(&field)?,
                4 => it.node_name = Some(text(&field)?),
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
                1 => it.name = text(&field)?,
                2 => it.port = field.as_i32()?,
                3 => it.protocol = text(&field)?,
                4 => it.app_protocol = Some(text(&field)?),
                _ => {}
            }
        }
        Ok(())
    }
}
