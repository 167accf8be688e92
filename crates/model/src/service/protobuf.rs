//! Decoding of Services from protobuf.

use kube_wire::protobuf::{Field, Fields};

use super::{Document, EXTERNAL_NAME, ServicePort, Spec, TargetPort};
use crate::protobuf::fields::{int_or_string, object, service_port, service_spec};
use crate::protobuf::{Message, Pairs, Result, message, text};
use crate::{IpFamily, Text};

impl Message for Document {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            object::METADATA => self.metadata.merge(field.message()?)?,
            object::SPEC => self.spec.merge(field.message()?)?,
            _ => {}
        }
        Ok(())
    }
}

impl Spec {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        let mut selector: Option<Pairs<'_>> = None;
        for field in fields {
            let field = field?;
            match field.number {
                service_spec::PORTS => it.ports.push(message::<Port>(&field)?.into()),
                service_spec::SELECTOR => selector.get_or_insert_default().push(&field)?,
                service_spec::CLUSTER_IP => it.cluster_ip = text(&field)?,
                service_spec::TYPE => it.external_name = field.text()? == EXTERNAL_NAME,
                service_spec::PUBLISH_NOT_READY_ADDRESSES => it.publish_not_ready_addresses = field.as_bool()?,
                service_spec::IP_FAMILIES => it.ip_families.extend(IpFamily::parse(&field.text()?)),
                service_spec::TRAFFIC_DISTRIBUTION => it.traffic_distribution = Some(text(&field)?),
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

/// A port, whose target is complete after the last field.
#[derive(Default)]
struct Port {
    port: ServicePort,
    target: IntOrString,
}

impl Message for Port {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            service_port::NAME => self.port.name = text(field)?,
            service_port::PROTOCOL => self.port.protocol = text(field)?,
            service_port::TARGET_PORT => self.target.merge(field.message()?)?,
            service_port::APP_PROTOCOL => self.port.app_protocol = Some(text(field)?),
            _ => {}
        }
        Ok(())
    }
}

impl From<Port> for ServicePort {
    fn from(it: Port) -> Self {
        ServicePort { target: it.target.into(), ..it.port }
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
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            int_or_string::TYPE => self.is_name = field.as_i64()? == 1,
            int_or_string::INT_VAL => self.number = field.as_i32()?,
            int_or_string::STR_VAL => self.name = text(field)?,
            _ => {}
        }
        Ok(())
    }
}

impl From<IntOrString> for TargetPort {
    fn from(it: IntOrString) -> Self {
        if it.is_name { TargetPort::Name(it.name) } else { TargetPort::Number(it.number) }
    }
}
