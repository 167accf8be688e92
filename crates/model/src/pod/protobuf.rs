//! Decoding of Pods from protobuf.

use std::borrow::Cow;

use kube_wire::protobuf::{Field, Fields};

use super::{NamedPort, PodBuilder, is_sidecar};
use crate::protobuf::fields::{container, container_port, object, pod_condition, pod_ip, pod_spec, pod_status};
use crate::protobuf::{Message, Result, from_str, text};
use crate::{Addresses, Text, time};

impl Message for PodBuilder {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            object::METADATA => self.metadata.merge(field.message()?)?,
            object::SPEC => spec(self, field.message()?)?,
            object::STATUS => status(self, field.message()?)?,
            _ => {}
        }
        Ok(())
    }
}

fn spec(builder: &mut PodBuilder, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            pod_spec::CONTAINERS => {
                container(&mut builder.container_ports, field.message()?)?;
            }
            pod_spec::RESTART_POLICY => builder.restart_policy = text(&field)?,
            pod_spec::NODE_NAME => builder.pod.node_name = text(&field)?,
            pod_spec::HOSTNAME => builder.pod.hostname = text(&field)?,
            pod_spec::SUBDOMAIN => builder.pod.subdomain = text(&field)?,
            pod_spec::INIT_CONTAINERS => {
                let before = builder.sidecar_ports.len();
                if !is_sidecar(&container(&mut builder.sidecar_ports, field.message()?)?) {
                    builder.sidecar_ports.truncate(before);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Appends the named ports of a container and returns its restart policy.
fn container<'a>(ports: &mut Vec<NamedPort>, fields: Fields<'a>) -> Result<Cow<'a, str>> {
    let mut restart_policy = Cow::default();
    for field in fields {
        let field = field?;
        match field.number {
            container::PORTS => ports.extend(port(field.message()?)?),
            container::RESTART_POLICY => restart_policy = field.text()?,
            _ => {}
        }
    }
    Ok(restart_policy)
}

/// Decodes a container port; `None` if it has no name.
fn port(fields: Fields<'_>) -> Result<Option<NamedPort>> {
    let mut it = NamedPort { name: Text::new(), protocol: Text::new(), port: 0 };
    for field in fields {
        let field = field?;
        match field.number {
            container_port::NAME => it.name = text(&field)?,
            container_port::CONTAINER_PORT => it.port = field.as_i32()?,
            container_port::PROTOCOL => it.protocol = text(&field)?,
            _ => {}
        }
    }
    Ok(Some(it).filter(|it| !it.name.is_empty()))
}

fn status(builder: &mut PodBuilder, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            pod_status::PHASE => builder.phase(&field.text()?),
            pod_status::CONDITIONS => condition(builder, field.message()?)?,
            pod_status::POD_IP => builder.pod_ip(&field.text()?),
            pod_status::POD_IPS => pod_ip(&mut builder.pod.pod_ips, field.message()?)?,
            _ => {}
        }
    }
    Ok(())
}

fn condition(builder: &mut PodBuilder, fields: Fields<'_>) -> Result<()> {
    let (mut kind, mut status, mut changed) = (Cow::default(), Cow::default(), None);
    for field in fields {
        let field = field?;
        match field.number {
            pod_condition::TYPE => kind = field.text()?,
            pod_condition::STATUS => status = field.text()?,
            pod_condition::LAST_TRANSITION_TIME => changed = time::value_of_field(&field)?,
            _ => {}
        }
    }
    builder.condition(&kind, &status, || changed);
    Ok(())
}

fn pod_ip(addresses: &mut Addresses, fields: Fields<'_>) -> Result<()> {
    let mut address = "".into();
    for field in fields {
        let field = field?;
        if field.number == pod_ip::IP {
            address = from_str(&field)?;
        }
    }
    addresses.push(address);
    Ok(())
}
