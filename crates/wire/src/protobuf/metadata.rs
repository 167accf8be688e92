//! `meta/v1` types that every reader needs, from protobuf.

use super::{Fields, MalformedProtobuf};
use crate::{Cause, Details, ObjectMeta, Status};

impl ObjectMeta {
    /// Reads the part of `metadata` that is kept, from the fields of a `meta/v1` `ObjectMeta`.
    pub fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut meta = Self::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => meta.name = field.as_str()?.into(),
                3 => meta.namespace = field.as_str()?.into(),
                5 => meta.uid = field.as_str()?.into(),
                6 => meta.resource_version = field.as_str()?.into(),
                _ => {}
            }
        }
        Ok(meta)
    }
}

impl Status {
    /// Reads the fields of a `meta/v1` `Status`.
    pub fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut status = Self::default();
        for field in fields {
            let field = field?;
            match field.number {
                2 => field.as_str()?.clone_into(&mut status.status),
                3 => field.as_str()?.clone_into(&mut status.message),
                4 => field.as_str()?.clone_into(&mut status.reason),
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
            1 => field.as_str()?.clone_into(&mut details.name),
            2 => field.as_str()?.clone_into(&mut details.group),
            3 => field.as_str()?.clone_into(&mut details.kind),
            4 => details.causes.push(cause(field.message()?)?),
            5 => details.retry_after_seconds = field.as_i32()?.try_into().unwrap_or_default(),
            6 => field.as_str()?.clone_into(&mut details.uid),
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
            1 => field.as_str()?.clone_into(&mut cause.reason),
            2 => field.as_str()?.clone_into(&mut cause.message),
            3 => field.as_str()?.clone_into(&mut cause.field),
            _ => {}
        }
    }
    Ok(cause)
}
