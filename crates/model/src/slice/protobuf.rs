//! Decoding of EndpointSlices from protobuf.

use kube_wire::protobuf::Fields;

use super::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
use crate::protobuf::fields::{
    endpoint, endpoint_conditions, endpoint_hints, endpoint_port, endpoint_slice, named_hint, object,
};
use crate::protobuf::{Message, Pairs, Result, from_str, message, push_address, text};
use crate::{ObjectReference, TargetRef, Text, intern};

impl Message for EndpointSlice {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        for field in fields {
            let field = field?;
            match field.number {
                object::METADATA => it.metadata.merge(field.message()?)?,
                endpoint_slice::ENDPOINTS => it.endpoints.push(message(&field)?),
                endpoint_slice::PORTS => it.ports.push(message(&field)?),
                endpoint_slice::ADDRESS_TYPE => it.address_type = from_str(&field)?,
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
                endpoint::ADDRESSES => push_address(&mut it.addresses, &field)?,
                endpoint::CONDITIONS => it.conditions.merge(field.message()?)?,
                endpoint::HOSTNAME => it.hostname = Some(text(&field)?),
                endpoint::TARGET_REF => target.get_or_insert_default().merge(field.message()?)?,
                endpoint::DEPRECATED_TOPOLOGY => topology.push(&field)?,
                endpoint::NODE_NAME => it.node_name = Some(text(&field)?),
                endpoint::ZONE => it.zone = Some(text(&field)?),
                endpoint::HINTS => hints.get_or_insert_default().merge(field.message()?)?,
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
                endpoint_conditions::READY => it.ready = Some(field.as_bool()?),
                endpoint_conditions::SERVING => it.serving = Some(field.as_bool()?),
                endpoint_conditions::TERMINATING => it.terminating = Some(field.as_bool()?),
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
                endpoint_hints::FOR_ZONES => it.for_zones.push(decode_name(field.message()?)?),
                endpoint_hints::FOR_NODES => it.for_nodes.push(decode_name(field.message()?)?),
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
        if field.number == named_hint::NAME {
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
                endpoint_port::NAME => it.name = Some(text(&field)?),
                endpoint_port::PROTOCOL => it.protocol = Some(text(&field)?),
                endpoint_port::PORT => it.port = Some(field.as_i32()?),
                endpoint_port::APP_PROTOCOL => it.app_protocol = Some(text(&field)?),
                _ => {}
            }
        }
        Ok(())
    }
}
