//! Reading protobuf: what all objects have in common. The numbers are those of Kubernetes' published messages, which a
//! test compares them with.

use kube_wire::protobuf::{Field, Fields, MalformedProtobuf};

use crate::projection::Metadata;
use crate::{Addresses, Labels, LastWrite, ObjectMeta, ObjectReference, OwnerReference, TargetRef, Text, intern, time};

pub(crate) type Result<T> = std::result::Result<T, MalformedProtobuf>;

/// A type that is read from a message.
pub(crate) trait FromFields: Sized {
    fn from_fields(fields: Fields<'_>) -> Result<Self>;
}

/// A shared string.
pub(crate) fn text(field: &Field<'_>) -> Result<Text> {
    field.as_str().map(intern::text)
}

/// Anything that is made from a text.
pub(crate) fn from_str<T: for<'a> From<&'a str>>(field: &Field<'_>) -> Result<T> {
    field.as_str().map(T::from)
}

/// One more address of several.
pub(crate) fn push_address(addresses: &mut Addresses, field: &Field<'_>) -> Result<()> {
    addresses.push(from_str(field)?);
    Ok(())
}

/// An enclosed message.
pub(crate) fn message<T: FromFields>(field: &Field<'_>) -> Result<T> {
    T::from_fields(field.message()?)
}

/// A map under way.
#[derive(Default)]
pub(crate) struct Pairs<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Pairs<'a> {
    pub(crate) fn push(&mut self, field: &Field<'a>) -> Result<()> {
        if self.0.is_empty() {
            self.0.reserve(8);
        }
        self.0.push(field.entry()?);
        Ok(())
    }

    pub(crate) fn finish(self) -> Labels {
        Labels::from_pairs(self.0)
    }
}

impl FromFields for Metadata {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        projection(fields, |_| Ok(()))
    }
}

impl FromFields for Metadata<Labels> {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut annotations = Pairs::default();
        let it: Metadata<Labels> = projection(fields, |field| annotations.push(field))?;
        Ok(Metadata { annotations: annotations.finish(), ..it })
    }
}

/// The metadata of an object that is only read; annotations go to the caller.
fn projection<'a, A: Default>(
    fields: Fields<'a>,
    mut annotation: impl FnMut(&Field<'a>) -> Result<()>,
) -> Result<Metadata<A>> {
    let mut it = Metadata::default();
    let mut labels = Pairs::default();
    for field in fields {
        let field = field?;
        match field.number {
            1 => it.name = text(&field)?,
            3 => it.namespace = text(&field)?,
            5 => it.uid = from_str(&field)?,
            6 => it.resource_version = from_str(&field)?,
            8 => it.creation_timestamp = time::value_of_field(&field)?,
            9 => it.deletion_timestamp = time::pointer_of_field(&field)?,
            10 => it.deletion_grace_period_seconds = Some(field.as_i64()?),
            11 => labels.push(&field)?,
            12 => annotation(&field)?,
            17 => it.managed_fields = it.managed_fields.max(LastWrite::of_entry(&field)),
            _ => {}
        }
    }
    it.labels = labels.finish();
    Ok(it)
}

impl FromFields for ObjectMeta {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = ObjectMeta::default();
        let (mut labels, mut annotations) = (Pairs::default(), Pairs::default());
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.name = text(&field)?,
                2 => it.generate_name = Some(text(&field)?).filter(|prefix| !prefix.is_empty()),
                3 => it.namespace = text(&field)?,
                4 => it.self_link = Some(text(&field)?).filter(|link| !link.is_empty()),
                5 => it.uid = from_str(&field)?,
                6 => it.resource_version = from_str(&field)?,
                7 => it.generation = field.as_i64()?,
                8 => it.creation_timestamp = time::value_of_field(&field)?,
                9 => it.deletion_timestamp = time::pointer_of_field(&field)?,
                10 => it.deletion_grace_period_seconds = Some(field.as_i64()?),
                11 => labels.push(&field)?,
                12 => annotations.push(&field)?,
                13 => it.owner_references.push(message(&field)?),
                14 => it.finalizers.push(text(&field)?),
                17 => it.last_write = it.last_write.max(LastWrite::of_entry(&field)),
                _ => {}
            }
        }
        (it.labels, it.annotations) = (labels.finish(), annotations.finish());
        it.owner_references.shrink_to_fit();
        it.finalizers.shrink_to_fit();
        Ok(it)
    }
}

impl FromFields for OwnerReference {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = OwnerReference::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.kind = text(&field)?,
                3 => it.name = text(&field)?,
                4 => it.uid = from_str(&field)?,
                5 => it.api_version = text(&field)?,
                6 => it.controller = Some(field.as_bool()?),
                7 => it.block_owner_deletion = Some(field.as_bool()?),
                _ => {}
            }
        }
        Ok(it)
    }
}

impl FromFields for TargetRef {
    fn from_fields(fields: Fields<'_>) -> Result<Self> {
        let mut it = ObjectReference::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => it.kind = text(&field)?,
                2 => it.namespace = text(&field)?,
                3 => it.name = text(&field)?,
                4 => it.uid = from_str(&field)?,
                5 => it.api_version = text(&field)?,
                6 => it.resource_version = from_str(&field)?,
                7 => it.field_path = text(&field)?,
                _ => {}
            }
        }
        Ok(it.into())
    }
}
