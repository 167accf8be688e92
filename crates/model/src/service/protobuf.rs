//! Decoding of Services from protobuf.

use kube_wire::protobuf::Fields;

use super::{EXTERNAL_NAME, Service, ServiceBuilder, ServicePort, Spec, TargetPort};
use crate::protobuf::{Message, Pairs, Result, message, text};
use crate::{IpFamily, Text};

impl Message for Service {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let mut builder = ServiceBuilder::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => builder.metadata.merge(field.message()?)?,
                2 => builder.spec.merge(field.message()?)?,
                _ => {}
            }
        }
        *self = builder.build();
        Ok(())
    }
}

impl Message for Spec {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        let mut selector: Option<Pairs<'_>> = None;
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.ports.push(message(&field)?),
                2 => selector.get_or_insert_default().push(&field)?,
                3 => it.cluster_ip = text(&field)?,
                4 => it.external_name = field.text()? == EXTERNAL_NAME,
                13 => it.publish_not_ready_addresses = field.as_bool()?,
                19 => it.ip_families.extend(IpFamily::parse(&field.text()?)),
                23 => it.traffic_distribution = Some(text(&field)?),
                _ => {}
            }
        }
        if let Some(selector) = selector {
            selector.merge_into(it.selector.get_or_insert_default());
        }
        it.ports.shrink_to_fit();
        it.ip_families.shrink_to_fit();
        Ok(())
    }
}

impl Message for ServicePort {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let (it, mut target) = (self, IntOrString::default());
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.name = text(&field)?,
                2 => it.protocol = text(&field)?,
                4 => target.merge(field.message()?)?,
                6 => it.app_protocol = Some(text(&field)?),
                _ => {}
            }
        }
        it.target = target.into();
        Ok(())
    }
}

/// An `IntOrString`; `is_name` selects which of the two values counts.
#[derive(Default)]
struct IntOrString {
    is_name: bool,
    number: i32,
    name: Text,
}

impl Message for IntOrString {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        for field in fields {
            let field = field?;
            match field.number {
                1 => self.is_name = field.as_i64()? == 1,
                2 => self.number = field.as_i32()?,
                3 => self.name = text(&field)?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl From<IntOrString> for TargetPort {
    fn from(it: IntOrString) -> Self {
        if it.is_name { TargetPort::Name(it.name) } else { TargetPort::Number(it.number) }
    }
}
