//! Services from protobuf.

use kube_wire::protobuf::{Field, Fields};

use super::{Draft, EXTERNAL_NAME, Service, ServicePort, Spec, TargetPort};
use crate::IpFamily;
use crate::protobuf::{FromFields, Pairs, Result, message, text};

impl FromFields for Service {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut draft = Draft::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => draft.metadata = message(&field)?,
                2 => draft.spec = message(&field)?,
                _ => {}
            }
        }
        Ok(draft.finish())
    }
}

impl FromFields for Spec {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = Spec::default();
        let mut selector: Option<Pairs<'_>> = None;
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.ports.push(message(&field)?),
                2 => selector.get_or_insert_default().push(&field)?,
                3 => it.cluster_ip = text(&field)?,
                4 => it.external_name = field.as_str()? == EXTERNAL_NAME,
                13 => it.publish_not_ready_addresses = field.as_bool()?,
                19 => it.ip_families.extend(IpFamily::parse(field.as_str()?)),
                23 => it.traffic_distribution = Some(text(&field)?),
                _ => {}
            }
        }
        it.selector = selector.map(Pairs::finish);
        it.ports.shrink_to_fit();
        it.ip_families.shrink_to_fit();
        Ok(it)
    }
}

impl FromFields for ServicePort {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = ServicePort::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.name = text(&field)?,
                2 => it.protocol = text(&field)?,
                4 => it.target = target_port(&field)?,
                6 => it.app_protocol = Some(text(&field)?),
                _ => {}
            }
        }
        Ok(it)
    }
}

/// An `IntOrString`: which of the two counts stands beside them.
fn target_port(field: &Field<'_>) -> Result<TargetPort> {
    let (mut is_name, mut number, mut name) = (false, 0, "");
    for field in field.message()? {
        let field = field?;
        match field.number {
            1 => is_name = field.as_i64()? == 1,
            2 => number = field.as_i32()?,
            3 => name = field.as_str()?,
            _ => {}
        }
    }
    Ok(if is_name { TargetPort::Name(crate::intern::text(name)) } else { TargetPort::Number(number) })
}
