//! Nodes from protobuf.

use kube_wire::protobuf::Fields;

use super::{Draft, Node};
use crate::projection::Metadata;
use crate::protobuf::{FromFields, Result, message};

impl FromFields for Node {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let (mut draft, mut metadata) = (Draft::default(), Metadata::default());
        for field in fields {
            let field = field?;
            match field.number {
                1 => metadata = message(&field)?,
                3 => status(&mut draft, field.message()?)?,
                _ => {}
            }
        }
        Ok(draft.finish(metadata))
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

/// An entry of a map of quantities.
fn allocatable(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
    let (mut resource, mut quantity) = ("", "");
    for field in fields {
        let field = field?;
        match field.number {
            1 => resource = field.as_str()?,
            2 => {
                for field in field.message()? {
                    let field = field?;
                    if field.number == 1 {
                        quantity = field.as_str()?;
                    }
                }
            }
            _ => {}
        }
    }
    draft.allocatable(resource, quantity);
    Ok(())
}

fn condition(draft: &mut Draft, fields: Fields<'_>) -> Result<()> {
    let (mut kind, mut status) = ("", "");
    for field in fields {
        let field = field?;
        match field.number {
            1 => kind = field.as_str()?,
            2 => status = field.as_str()?,
            _ => {}
        }
    }
    draft.condition(kind, status);
    Ok(())
}
