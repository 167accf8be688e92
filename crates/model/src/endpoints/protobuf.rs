//! Endpoints from protobuf.

use kube_wire::protobuf::Fields;

use super::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
use crate::Text;
use crate::protobuf::{FromFields, Result, from_str, message, text};

impl FromFields for Endpoints {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = Endpoints::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.metadata = message(&field)?,
                2 => it.subsets.push(message(&field)?),
                _ => {}
            }
        }
        it.subsets.shrink_to_fit();
        Ok(it)
    }
}

impl FromFields for EndpointSubset {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = EndpointSubset::default();
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
        Ok(it)
    }
}

impl FromFields for EndpointAddress {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = EndpointAddress { hostname: Text::new(), ip: "".into(), node_name: None, target_ref: None };
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.ip = from_str(&field)?,
                2 => it.target_ref = Some(message(&field)?),
                3 => it.hostname = text(&field)?,
                4 => it.node_name = Some(text(&field)?),
                _ => {}
            }
        }
        Ok(it)
    }
}

impl FromFields for SubsetPort {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = SubsetPort::default();
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
        Ok(it)
    }
}
