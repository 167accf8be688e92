//! Decoding of Nodes from protobuf.

use std::borrow::Cow;

use kube_wire::protobuf::Fields;

use super::{Node, NodeBuilder};
use crate::projection::Metadata;
use crate::protobuf::fields::{map_entry, node_condition, node_status, object, quantity};
use crate::protobuf::{Message, Result};

impl Message for Node {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let (mut builder, mut metadata): (_, Metadata) = (NodeBuilder::default(), Metadata::default());
        for field in fields {
            let field = field?;
            match field.number {
                object::METADATA => metadata.merge(field.message()?)?,
                object::STATUS => status(&mut builder, field.message()?)?,
                _ => {}
            }
        }
        *self = builder.build(metadata);
        Ok(())
    }
}

fn status(builder: &mut NodeBuilder, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            node_status::ALLOCATABLE => allocatable(builder, field.message()?)?,
            node_status::CONDITIONS => condition(builder, field.message()?)?,
            _ => {}
        }
    }
    Ok(())
}

/// Decodes an entry of the map `status.allocatable`.
fn allocatable(builder: &mut NodeBuilder, fields: Fields<'_>) -> Result<()> {
    let (mut resource, mut amount) = (Cow::default(), Cow::default());
    for field in fields {
        let field = field?;
        match field.number {
            map_entry::KEY => resource = field.text()?,
            map_entry::VALUE => {
                for field in field.message()? {
                    let field = field?;
                    if field.number == quantity::STRING {
                        amount = field.text()?;
                    }
                }
            }
            _ => {}
        }
    }
    builder.allocatable(&resource, &amount);
    Ok(())
}

fn condition(builder: &mut NodeBuilder, fields: Fields<'_>) -> Result<()> {
    let (mut kind, mut status) = (Cow::default(), Cow::default());
    for field in fields {
        let field = field?;
        match field.number {
            node_condition::TYPE => kind = field.text()?,
            node_condition::STATUS => status = field.text()?,
            _ => {}
        }
    }
    builder.condition(&kind, &status);
    Ok(())
}
