//! Decoding of `metav1.ObjectMeta` and `metav1.Status`.

use super::{
    Fields, MalformedProtobuf,
    fields::{object_meta, status, status_cause, status_details},
};
use crate::{Cause, Details, ObjectHead, Status};

impl ObjectHead {
    /// Decodes the fields of a `metav1.ObjectMeta`; those that are not kept are skipped.
    ///
    /// # Errors
    ///
    /// The message is malformed, or a kept field is not a string.
    pub fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut head = Self::default();
        head.merge(fields)?;
        Ok(head)
    }

    /// Decodes the fields up to the first malformed one.
    pub(crate) fn merge(&mut self, fields: Fields<'_>) -> Result<(), MalformedProtobuf> {
        for field in fields {
            let field = field?;
            match field.number {
                object_meta::NAME => self.name = (&*field.text()?).into(),
                object_meta::NAMESPACE => self.namespace = (&*field.text()?).into(),
                object_meta::UID => self.uid = (&*field.text()?).into(),
                object_meta::RESOURCE_VERSION => self.resource_version = (&*field.text()?).into(),
                object_meta::DELETION_TIMESTAMP => self.terminating = true,
                _ => {}
            }
        }
        Ok(())
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
                status::MESSAGE => status.message = field.text()?.into_owned(),
                status::REASON => status.reason = field.text()?.into_owned(),
                status::DETAILS => status.details = Some(details(field.message()?)?),
                status::CODE => status.code = field.as_i32()?.try_into().unwrap_or_default(),
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
            status_details::NAME => details.name = field.text()?.into_owned(),
            status_details::CAUSES => details.causes.push(cause(field.message()?)?),
            status_details::RETRY_AFTER_SECONDS => {
                details.retry_after_seconds = field.as_i32()?.try_into().unwrap_or_default();
            }
            _ => {}
        }
    }
    Ok(details)
}

fn cause(fields: Fields<'_>) -> Result<Cause, MalformedProtobuf> {
    let mut cause = Cause::default();
    for field in fields {
        let field = field?;
        if field.number == status_cause::REASON {
            cause.reason = field.text()?.into_owned();
        }
    }
    Ok(cause)
}
