//! Decoding of Nodes from protobuf.

use std::borrow::Cow;

use kube_wire::protobuf::Fields;

use super::{Draft, Node};
use crate::projection::Metadata;
use crate::protobuf::{Message, Result};

impl Message for Node {
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let (mut draft, mut metadata): (_, Metadata) = (Draft::default(), Metadata::default());
        for field in fields {
            let field = field?;
            match field.number {
                1 => metadata.merge(field.message()?)?,
                3 => status(&mut draft, field.message()?)?,
                _ => {}
            }
        }
        *self = draft.finish(metadata);
        Ok(())
    }
}

fn status(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
    for field in fields {
        let field = field?;
        match field.number {
            2 => allocatable(draft, field.message()?)?,
            4 => condition(draft, field.message()?)?,
            _ => {}
        }
    }
    Ok(())
}

/// Decodes an entry of the map `status.allocatable`.
fn allocatable(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
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
    draft.allocatable(&resource, &quantity);
    Ok(())
}

fn condition(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
    let (mut kind, mut status) = (Cow::default(), Cow::default());
    for field in fields {
        let field = field?;
        match field.number {
            1 => kind = field.text()?,
            2 => status = field.text()?,
            _ => {}
        }
    }
    draft.condition(&kind, &status);
    Ok(())
}
