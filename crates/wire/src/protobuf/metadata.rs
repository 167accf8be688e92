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
        let mut meta = Self::default();
        for field in fields {
            let field = field?;
            match field.number {
                object_meta::NAME => meta.name = (&*field.text()?).into(),
                object_meta::NAMESPACE => meta.namespace = (&*field.text()?).into(),
                object_meta::UID => meta.uid = (&*field.text()?).into(),
                object_meta::RESOURCE_VERSION => meta.resource_version = (&*field.text()?).into(),
                object_meta::DELETION_TIMESTAMP => meta.terminating = true,
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
                status::STATUS => status.status = field.text()?.into_owned(),
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
            status_details::GROUP => details.group = field.text()?.into_owned(),
            status_details::KIND => details.kind = field.text()?.into_owned(),
            status_details::CAUSES => details.causes.push(cause(field.message()?)?),
            status_details::RETRY_AFTER_SECONDS => {
                details.retry_after_seconds = field.as_i32()?.try_into().unwrap_or_default();
            }
            status_details::UID => details.uid = field.text()?.into_owned(),
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
            status_cause::REASON => cause.reason = field.text()?.into_owned(),
            status_cause::MESSAGE => cause.message = field.text()?.into_owned(),
            status_cause::FIELD => cause.field = field.text()?.into_owned(),
            _ => {}
        }
    }
    Ok(cause)
}
