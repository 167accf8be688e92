//! Decoding of EndpointSlices from protobuf.

use kube_wire::protobuf::{Field, Fields};

use super::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
use crate::protobuf::fields::{
    endpoint, endpoint_conditions, endpoint_hints, endpoint_port, endpoint_slice, named_hint, object,
};
use crate::protobuf::{Message, Result, from_str, message, target, text};
use crate::{Text, intern};

impl Message for EndpointSlice {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            object::METADATA => self.metadata.merge(field.message()?)?,
            endpoint_slice::ENDPOINTS => self.endpoints.push(message(field)?),
            endpoint_slice::PORTS => self.ports.push(message(field)?),
            endpoint_slice::ADDRESS_TYPE => self.address_type = from_str(field)?,
            _ => {}
        }
        Ok(())
    }

    fn shrink(&mut self) {
        self.endpoints.shrink_to_fit();
        self.ports.shrink_to_fit();
    }
}

impl Message for Endpoint {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            endpoint::ADDRESSES => self.addresses.push(from_str(field)?),
            endpoint::CONDITIONS => self.conditions.merge(field.message()?)?,
            endpoint::HOSTNAME => self.hostname = Some(text(field)?),
            endpoint::TARGET_REF => target(&mut self.target_ref, field)?,
            endpoint::DEPRECATED_TOPOLOGY => {
                let (key, value) = field.entry()?;
                self.deprecated_topology = self.deprecated_topology.with([(&*key, &*value)]);
            }
            endpoint::NODE_NAME => self.node_name = Some(text(field)?),
            endpoint::ZONE => self.zone = Some(text(field)?),
            endpoint::HINTS => {
                let mut hints = self.hints.as_deref().cloned().unwrap_or_default();
                hints.merge(field.message()?)?;
                self.hints = Some(intern::hints(&hints));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Message for EndpointConditions {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            endpoint_conditions::READY => self.ready = Some(field.as_bool()?),
            endpoint_conditions::SERVING => self.serving = Some(field.as_bool()?),
            endpoint_conditions::TERMINATING => self.terminating = Some(field.as_bool()?),
            _ => {}
        }
        Ok(())
    }
}

impl Message for EndpointHints {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            endpoint_hints::FOR_ZONES => self.for_zones.push(decode_name(field.message()?)?),
            endpoint_hints::FOR_NODES => self.for_nodes.push(decode_name(field.message()?)?),
            _ => {}
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
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            endpoint_port::NAME => self.name = Some(text(field)?),
            endpoint_port::PROTOCOL => self.protocol = Some(text(field)?),
            endpoint_port::PORT => self.port = Some(field.as_i32()?),
            endpoint_port::APP_PROTOCOL => self.app_protocol = Some(text(field)?),
            _ => {}
        }
        Ok(())
    }
}
