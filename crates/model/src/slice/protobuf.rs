//! EndpointSlices from protobuf.

use kube_wire::protobuf::Fields;

use super::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
use crate::protobuf::{FromFields, Pairs, Result, from_str, message, push_address, text};
use crate::{Text, intern};

impl FromFields for EndpointSlice {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = EndpointSlice::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.metadata = message(&field)?,
                2 => it.endpoints.push(message(&field)?),
                3 => it.ports.push(message(&field)?),
                4 => it.address_type = from_str(&field)?,
                _ => {}
            }
        }
        it.endpoints.shrink_to_fit();
        it.ports.shrink_to_fit();
        Ok(it)
    }
}

impl FromFields for Endpoint {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = Endpoint::default();
        let mut topology = Pairs::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => push_address(&mut it.addresses, &field)?,
                2 => it.conditions = message(&field)?,
                3 => it.hostname = Some(text(&field)?),
                4 => it.target_ref = Some(message(&field)?),
                5 => topology.push(&field)?,
                6 => it.node_name = Some(text(&field)?),
                7 => it.zone = Some(text(&field)?),
                8 => it.hints = Some(intern::hints(&message(&field)?)),
                _ => {}
            }
        }
        it.deprecated_topology = topology.finish();
        Ok(it)
    }
}

impl FromFields for EndpointConditions {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = EndpointConditions::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.ready = Some(field.as_bool()?),
                2 => it.serving = Some(field.as_bool()?),
                3 => it.terminating = Some(field.as_bool()?),
                _ => {}
            }
        }
        Ok(it)
    }
}

impl FromFields for EndpointHints {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = EndpointHints::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.for_zones.push(named(field.message()?)?),
                2 => it.for_nodes.push(named(field.message()?)?),
                _ => {}
            }
        }
        Ok(it)
    }
}

/// A message of a name alone.
fn named(fields: Fields<'_>) -> Result<Text> {
    let mut name = Text::new();
    for field in fields {
        let field = field?;
        if field.number == 1 {
            name = text(&field)?;
        }
    }
    Ok(name)
}

impl FromFields for EndpointPort {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = EndpointPort::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.name = Some(text(&field)?),
                2 => it.protocol = Some(text(&field)?),
                3 => it.port = Some(field.as_i32()?),
                4 => it.app_protocol = Some(text(&field)?),
                _ => {}
            }
        }
        Ok(it)
    }
}
