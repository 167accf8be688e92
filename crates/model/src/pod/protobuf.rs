//! Decoding of Pods from protobuf.

use std::borrow::Cow;

use kube_wire::protobuf::Fields;

use super::{NamedPort, Pod, PodBuilder, is_sidecar};
use crate::projection::Metadata;
use crate::protobuf::{Message, Result, from_str, text};
use crate::{Addresses, Text, time};

impl Message for Pod {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let (mut builder, mut metadata): (_, Metadata) = (PodBuilder::default(), Metadata::default());
        for field in fields {
            let field = field?;
            match field.number {
                1 => metadata.merge(field.message()?)?,
                2 => spec(&mut builder, field.message()?)?,
                3 => status(&mut builder, field.message()?)?,
                _ => {}
            }
        }
        builder.metadata(metadata);
        *self = builder.build();
        Ok(())
    }
}

fn spec(builder: &mut PodBuilder, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            2 => drop(container(&mut builder.container_ports, field.message()?)?),
            3 => builder.restart_policy(&field.text()?),
            10 => builder.pod.node_name = text(&field)?,
            16 => builder.pod.hostname = text(&field)?,
            17 => builder.pod.subdomain = text(&field)?,
            20 => {
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
            6 => ports.extend(port(field.message()?)?),
            24 => restart_policy = field.text()?,
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
            1 => it.name = text(&field)?,
            3 => it.port = field.as_i32()?,
            4 => it.protocol = text(&field)?,
            _ => {}
        }
    }
    Ok(Some(it).filter(|it| !it.name.is_empty()))
}

fn status(builder: &mut PodBuilder, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            1 => builder.phase(&field.text()?),
            2 => condition(builder, field.message()?)?,
            6 => builder.pod_ip(&field.text()?),
            12 => pod_ip(&mut builder.pod.pod_ips, field.message()?)?,
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
            1 => kind = field.text()?,
            2 => status = field.text()?,
            4 => changed = time::value_of_field(&field)?,
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
        if field.number == 1 {
            address = from_str(&field)?;
        }
    }
    addresses.push(address);
    Ok(())
}
