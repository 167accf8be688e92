//! Decoding of protobuf: the parts common to all types.

pub(crate) mod fields;

use std::borrow::Cow;

use kube_wire::protobuf::{Field, Fields, MalformedProtobuf};

use self::fields::{object_meta, object_reference, owner_reference};
use crate::projection::Metadata;
use crate::{Labels, ObjectMeta, ObjectReference, OwnerReference, TargetRef, Text, intern, time};

pub(crate) type Result<T> = std::result::Result<T, MalformedProtobuf>;

/// A type that is decoded from a protobuf message.
pub(crate) trait Message {
    /// Merges one field. As the protobuf specification requires and Go implements, a field that is not repeated may occur
    /// several times: the last scalar counts, and messages are merged.
    fn field(&mut self, field: &Field<'_>) -> Result<()>;

    /// Drops spare capacity of lists, after the last field.
    fn shrink(&mut self) {}

    /// Merges the fields of one occurrence of the message.
    fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        for field in fields {
            self.field(&field?)?;
        }
        self.shrink();
        Ok(())
    }
}

/// Decodes an interned string.
pub(crate) fn text(field: &Field<'_>) -> Result<Text> {
    field.text().map(|text| intern::text(&text))
}

/// Decodes a string and converts it.
pub(crate) fn from_str<T: for<'a> From<&'a str>>(field: &Field<'_>) -> Result<T> {
    field.text().map(|text| T::from(&text))
}

/// Decodes an element of a repeated message field.
pub(crate) fn message<T: Message + Default>(field: &Field<'_>) -> Result<T> {
    let mut it = T::default();
    it.merge(field.message()?)?;
    Ok(it)
}

/// Merges an occurrence of a reference.
pub(crate) fn target(target: &mut Option<TargetRef>, field: &Field<'_>) -> Result<()> {
    let mut reference = target.as_ref().map(ObjectReference::from).unwrap_or_default();
    reference.merge(field.message()?)?;
    *target = Some(reference.into());
    Ok(())
}

/// Partially decoded map.
#[derive(Default)]
pub(crate) struct Pairs<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Pairs<'a> {
    pub(crate) fn push(&mut self, field: &Field<'a>) -> Result<()> {
        if self.0.is_empty() {
            self.0.reserve(8);
        }
        self.0.push(field.entry()?);
        Ok(())
    }

    /// Adds the pair if `keeps` returns `true` for its key.
    pub(crate) fn push_if(&mut self, field: &Field<'a>, keeps: impl FnOnce(&str) -> bool) -> Result<()> {
        let pair = field.entry()?;
        if keeps(&pair.0) {
            self.0.push(pair);
        }
        Ok(())
    }

    /// Adds the pairs to `labels`; of several pairs with the same key, the last one counts.
    pub(crate) fn merge_into(self, labels: &mut Labels) {
        if labels.is_empty() {
            *labels = Labels::from_pairs(self.0);
        } else if !self.0.is_empty() {
            *labels = labels.with(self.0.iter().map(|(key, value)| (&**key, &**value)));
        }
    }
}

impl Metadata {
    pub(crate) fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        projection(self, fields, |_| Ok(()))
    }
}

impl Metadata<Labels> {
    pub(crate) fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let mut annotations = Pairs::default();
        projection(self, fields, |field| annotations.push(field))?;
        annotations.merge_into(&mut self.annotations);
        Ok(())
    }
}

/// Merges the metadata of a read-only object; calls `annotation` for each annotation.
fn projection<'a, A: Default>(
    it: &mut Metadata<A>,
    fields: Fields<'a>,
    mut annotation: impl FnMut(&Field<'a>) -> Result<()>,
) -> Result<()> {
    let mut labels = Pairs::default();
    for field in fields {
        let field = field?;
        match field.number {
            object_meta::NAME => it.name = text(&field)?,
            object_meta::NAMESPACE => it.namespace = text(&field)?,
            object_meta::UID => it.uid = from_str(&field)?,
            object_meta::RESOURCE_VERSION => it.resource_version = from_str(&field)?,
            object_meta::CREATION_TIMESTAMP => it.creation_timestamp = time::value_of_field(&field)?,
            object_meta::DELETION_TIMESTAMP => it.deletion_timestamp = time::pointer_of_field(&field)?,
            object_meta::LABELS => labels.push(&field)?,
            object_meta::ANNOTATIONS => annotation(&field)?,
            _ => {}
        }
    }
    labels.merge_into(&mut it.labels);
    Ok(())
}

impl ObjectMeta {
    pub(crate) fn merge(&mut self, fields: Fields<'_>) -> Result<()> {
        let it = self;
        let (mut labels, mut annotations) = (Pairs::default(), Pairs::default());
        for field in fields {
            let field = field?;
            match field.number {
                object_meta::NAME => it.name = text(&field)?,
                object_meta::GENERATE_NAME => {
                    it.generate_name = Some(text(&field)?).filter(|prefix| !prefix.is_empty());
                }
                object_meta::NAMESPACE => it.namespace = text(&field)?,
                object_meta::SELF_LINK => it.self_link = Some(text(&field)?).filter(|link| !link.is_empty()),
                object_meta::UID => it.uid = from_str(&field)?,
                object_meta::RESOURCE_VERSION => it.resource_version = from_str(&field)?,
                object_meta::GENERATION => it.generation = field.as_i64()?,
                object_meta::CREATION_TIMESTAMP => it.creation_timestamp = time::value_of_field(&field)?,
                object_meta::DELETION_TIMESTAMP => it.deletion_timestamp = time::pointer_of_field(&field)?,
                object_meta::DELETION_GRACE_PERIOD_SECONDS => it.deletion_grace_period_seconds = Some(field.as_i64()?),
                object_meta::LABELS => labels.push(&field)?,
                object_meta::ANNOTATIONS => annotations.push(&field)?,
                object_meta::OWNER_REFERENCES => it.owner_references.push(message(&field)?),
                object_meta::FINALIZERS => it.finalizers.push(text(&field)?),
                _ => {}
            }
        }
        labels.merge_into(&mut it.labels);
        annotations.merge_into(&mut it.annotations);
        it.owner_references.shrink_to_fit();
        it.finalizers.shrink_to_fit();
        Ok(())
    }
}

impl Message for OwnerReference {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            owner_reference::KIND => self.kind = text(field)?,
            owner_reference::NAME => self.name = text(field)?,
            owner_reference::UID => self.uid = from_str(field)?,
            owner_reference::API_VERSION => self.api_version = text(field)?,
            owner_reference::CONTROLLER => self.controller = Some(field.as_bool()?),
            owner_reference::BLOCK_OWNER_DELETION => self.block_owner_deletion = Some(field.as_bool()?),
            _ => {}
        }
        Ok(())
    }
}

impl Message for ObjectReference {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            object_reference::KIND => self.kind = text(field)?,
            object_reference::NAMESPACE => self.namespace = text(field)?,
            object_reference::NAME => self.name = text(field)?,
            object_reference::UID => self.uid = from_str(field)?,
            object_reference::API_VERSION => self.api_version = text(field)?,
            object_reference::RESOURCE_VERSION => self.resource_version = from_str(field)?,
            object_reference::FIELD_PATH => self.field_path = text(field)?,
            _ => {}
        }
        Ok(())
    }
}
