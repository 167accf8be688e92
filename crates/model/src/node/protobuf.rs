//! Decoding of Nodes from protobuf.

use std::borrow::Cow;

use kube_wire::protobuf::{Field, Fields};

use super::{Condition, Document, Status};
use crate::protobuf::fields::{map_entry, node_condition, node_status, object, quantity};
use crate::protobuf::{Message, Result, message, text};

impl Message for Document {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            object::METADATA => self.metadata.merge(field.message()?)?,
            object::STATUS => self.status.merge(field.message()?)?,
            _ => {}
        }
        Ok(())
    }
}

impl Message for Status {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            node_status::ALLOCATABLE => self.allocatable(field.message()?)?,
            node_status::CONDITIONS => self.conditions.push(message(field)?),
            _ => {}
        }
        Ok(())
    }
}

impl Status {
    /// Decodes an entry of the map `allocatable`, whose values are messages.
    fn allocatable(&mut self, fields: Fields<'_>) -> Result<()> {
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
        if resource == "cpu" {
            self.allocatable = [(resource, amount)].into_iter().collect();
        }
        Ok(())
    }
}

impl Message for Condition {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            node_condition::TYPE => self.kind = text(field)?,
            node_condition::STATUS => self.status = text(field)?,
            _ => {}
        }
        Ok(())
    }
}
