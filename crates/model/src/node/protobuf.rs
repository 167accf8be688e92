//! Decoding of Nodes from protobuf.

use std::borrow::Cow;

use kube_wire::protobuf::Fields;

use super::{Node, NodeBuilder};
use crate::projection::Metadata;
use crate::protobuf::{Message, Result};

impl Message for Node {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let (mut builder, mut metadata): (_, Metadata) = (NodeBuilder::default(), Metadata::default());
        for field in fields {
            let field = field?;
            match field.number {
                1 => metadata.merge(field.message()?)?,
                3 => status(&mut builder, field.message()?)?,
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
            2 => allocatable(builder, field.message()?)?,
            4 => condition(builder, field.message()?)?,
            _ => {}
        }
    }
    Ok(())
}

/// Decodes an entry of the map `status.allocatable`.
fn allocatable(builder: &mut NodeBuilder, fields: Fields<'_>) -> Result<()> {
    let (mut resource, mut quantity) = (Cow::default(), Cow::default());
    for field in fields {
        let field = field?;
        match field.number {
            1 => resource = field.text()?,
            2 => {
                for field in field.message()? {
                    let field = field?;
                    if field.number == 1 {
                        quantity = field.text()?;
                    }
                }
            }
            _ => {}
        }
    }
    builder.allocatable(&resource, &quantity);
    Ok(())
}

fn condition(builder: &mut NodeBuilder, fields: Fields<'_>) -> Result<()> {
    let (mut kind, mut status) = (Cow::default(), Cow::default());
    for field in fields {
        let field = field?;
        match field.number {
            1 => kind = field.text()?,
            2 => status = field.text()?,
            _ => {}
        }
    }
    builder.condition(&kind, &status);
    Ok(())
}
