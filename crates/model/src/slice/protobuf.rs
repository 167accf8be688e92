//! Decoding of EndpointSlices from protobuf.

use kube_wire::protobuf::Fields;

use super::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
use crate::protobuf::{Message, Pairs, Result, from_str, message, push_address, text};
use crate::{ObjectReference, TargetRef, Text, intern};

impl Message for EndpointSlice {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.metadata.merge(field.message()?)?,
                2 => it.endpoints.push(message(&field)?),
                3 => it.ports.push(message(&field)?),
                4 => it.address_type = from_str(&field)?,
                _ => {}
            }
        }
        it.endpoints.shrink_to_fit();
        it.ports.shrink_to_fit();
        Ok(())
    }
}

impl Message for Endpoint {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        let mut topology = Pairs::default();
        let (mut target, mut hints): (Option<ObjectReference>, Option<EndpointHints>) = (None, None);
        for field in fields {
            let field = field?;
            match field.number {
                1 => push_address(&mut it.addresses, &field)?,
                2 => it.conditions.merge(field.message()?)?,
                3 => it.hostname = Some(text(&field)?),
                4 => target.get_or_insert_default().merge(field.message()?)?,
                5 => topology.push(&field)?,
                6 => it.node_name = Some(text(&field)?),
                7 => it.zone = Some(text(&field)?),
                8 => hints.get_or_insert_default().merge(field.message()?)?,
                _ => {}
            }
        }
        topology.merge_into(&mut it.deprecated_topology);
        it.target_ref = target.map(TargetRef::from);
        it.hints = hints.as_ref().map(intern::hints);
        Ok(())
    }
}

impl Message for EndpointConditions {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.ready = Some(field.as_bool()?),
                2 => it.serving = Some(field.as_bool()?),
                3 => it.terminating = Some(field.as_bool()?),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Message for EndpointHints {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.for_zones.push(decode_name(field.message()?)?),
                2 => it.for_nodes.push(decode_name(field.message()?)?),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Decodes a message whose only field is a name.
fn decode_name(fields: Fields<'_>) -> Result<Text> {
    let mut name = Text::new();
    for field in fields {
        let field = field?;
        if field.number == 1 {
            name = text(&field)?;
        }
    }
    Ok(name)
}

impl Message for EndpointPort {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
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
        Ok(())
    }
}
