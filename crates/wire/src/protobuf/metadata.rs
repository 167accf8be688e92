//! Decoding of `metav1.ObjectMeta` and `metav1.Status`.

use super::{Fields, MalformedProtobuf};
use crate::{Cause, Details, ObjectHead, Status};

impl ObjectHead {
    /// Decodes the fields of a `metav1.ObjectMeta`; those that are not kept are skipped.
    ///
    /// # Errors
    ///
    /// The message is malformed, or a kept field is not a string.
    pub fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut meta = Self::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => meta.name = (&*field.text()?).into(),
                3 => meta.namespace = (&*field.text()?).into(),
                5 => meta.uid = (&*field.text()?).into(),
                6 => meta.resource_version = (&*field.text()?).into(),
                9 => meta.terminating = true,
                _ => {}
            }
        }
        Ok(meta)
    }
}

impl Status {
    /// Decodes the fields of a `metav1.Status`.
    ///
    /// # Errors
    ///
    /// The message is malformed, or a field has another type than in `metav1.Status`.
    pub fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut status = Self::default();
        for field in fields {
            let field = field?;
            match field.number {
                2 => status.status = field.text()?.into_owned(),
                3 => status.message = field.text()?.into_owned(),
                4 => status.reason = field.text()?.into_owned(),
                5 => status.details = Some(details(field.message()?)?),
                6 => status.code = field.as_i32()?.try_into().unwrap_or_default(),
                _ => {}
            }
        }
        Ok(status)
    }
}

fn details(fields: Fields<'_>) -> Result<Details, MalformedProtobuf> {
    let mut details = Details::default();
    for field in fields {
        let field = field?;
        match field.number {
            1 => details.name = field.text()?.into_owned(),
            2 => details.group = field.text()?.into_owned(),
            3 => details.kind = field.text()?.into_owned(),
            4 => details.causes.push(cause(field.message()?)?),
            5 => details.retry_after_seconds = field.as_i32()?.try_into().unwrap_or_default(),
            6 => details.uid = field.text()?.into_owned(),
            _ => {}
        }
    }
    Ok(details)
}

fn cause(fields: Fields<'_>) -> Result<Cause, MalformedProtobuf> {
    let mut cause = Cause::default();
    for field in fields {
        let field = field?;
        match field.number {
            1 => cause.reason = field.text()?.into_owned(),
            2 => cause.message = field.text()?.into_owned(),
            3 => cause.field = field.text()?.into_owned(),
            _ => {}
        }
    }
    Ok(cause)
}
