//! Requests to the subresource `scale`.

use http::{Method, StatusCode};
use serde_json::Value;

use super::form::ResponseForm;
use super::payload::{Expected, Payload};
use super::query::Query;
use super::reply::{self, Reply};
use crate::cluster::{WriteTarget, check_write};
use crate::kinds::Kind;
use crate::shared::Shared;
use crate::status::StatusError;

pub(super) fn read(shared: &Shared, target: WriteTarget<'_>, form: ResponseForm) -> Result<Reply, StatusError> {
    Ok(scale_reply(&shared.read(|cluster| cluster.scale(target))?, form))
}

/// # Errors
/// 405 for a method other than PUT and PATCH, 400 or 415 if the body cannot be decoded, and those of an update.
pub(super) fn write(
    shared: &Shared,
    target: WriteTarget<'_>,
    method: &Method,
    payload: Payload<'_>,
    query: &Query,
    form: ResponseForm,
) -> Result<Reply, StatusError> {
    let written = match *method {
        Method::PUT => {
            check_write(query.given_manager(), "UpdateOptions")?;
            let scale = payload.object(Expected { api_version: "autoscaling/v1", kind: "Scale" })?.value;
            shared
                .write(query.dry_run, |cluster, options| cluster.update_scale(target, &scale, query.options(options)))?
        }
        Method::PATCH if payload.is_configuration() => {
            let scale = payload.configuration()?.value;
            let applier = query.applier()?;
            shared.write(query.dry_run, |cluster, options| {
                cluster.apply_scale(target, &scale, applier, query.options(options))
            })?
        }
        Method::PATCH => {
            let patch = payload.patch(Kind::scale())?;
            query.check_patch()?;
            shared
                .write(query.dry_run, |cluster, options| cluster.patch_scale(target, &patch, query.options(options)))?
        }
        _ => return Err(StatusError::method_not_allowed()),
    };
    Ok(scale_reply(&target.kind.scale_of(&written.object.value()?), form))
}

fn scale_reply(scale: &Value, form: ResponseForm) -> Reply {
    reply::json(StatusCode::OK, form.object(Kind::scale(), &scale.to_string().into(), true))
}
