//! Decoding of Pods from protobuf.

use std::borrow::Cow;

use kube_wire::protobuf::Fields;

use super::{Draft, NamedPort, Pod, is_sidecar};
use crate::projection::Metadata;
use crate::protobuf::{Message, Result, from_str, text};
use crate::{Addresses, Text, time};

impl Message for Pod {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let (mut draft, mut metadata): (_, Metadata) = (Draft::default(), Metadata::default());
        for field in fields {
            let field = field?;
            match field.number {
                1 => metadata.merge(field.message()?)?,
                2 => spec(&mut draft, field.message()?)?,
                3 => status(&mut draft, field.message()?)?,
                _ => {}
            }
        }
        draft.metadata(metadata);
        *self = draft.finish();
        Ok(())
    }
}

fn spec(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            2 => drop(container(&mut draft.of_containers, field.message()?)?),
            3 => draft.restart_policy(&field.text()?),
            10 => draft.pod.node_name = text(&field)?,
            16 => draft.pod.hostname = text(&field)?,
            17 => draft.pod.subdomain = text(&field)?,
            20 => {
                let before = draft.of_sidecars.len();
                if !is_sidecar(&container(&mut draft.of_sidecars, field.message()?)?) {
                    draft.of_sidecars.truncate(before);
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

fn status(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            1 => draft.phase(&field.text()?),
            2 => condition(draft, field.message()?)?,
            6 => draft.pod_ip(&field.text()?),
            12 => pod_ip(&mut draft.pod.pod_ips, field.message()?)?,
            _ => {}
        }
    }
    Ok(())
}

fn condition(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
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
    draft.condition(&kind, &status, || changed);
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
