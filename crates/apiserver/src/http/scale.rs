//! Requests to the subresource `scale`.

use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;

use super::body::{self, Expected};
use super::form::ResponseForm;
use super::query::Query;
use super::reply::{self, Reply};
use crate::cluster::check_write;
use crate::kinds::Kind;
use crate::shared::Shared;
use crate::status::StatusError;

/// The object that is scaled.
#[derive(Clone, Copy)]
pub(super) struct ScaleTarget<'a> {
    pub(super) kind: &'a Kind,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl ScaleTarget<'_> {
    pub(super) fn read(self, shared: &Shared, form: ResponseForm) -> Result<Reply, StatusError> {
        let Self { kind, namespace, name } = self;
        Ok(scale_reply(&shared.read(|cluster| cluster.scale(kind, namespace, name))?, form))
    }

    /// # Errors
    /// 405 for a method other than PUT and PATCH, 400 or 415 if the body cannot be decoded, and those of an update.
    pub(super) fn write(
        self,
        shared: &Shared,
        method: &Method,
        (headers, bytes): (&HeaderMap, &[u8]),
        query: &Query,
        form: ResponseForm,
    ) -> Result<Reply, StatusError> {
        let Self { kind, namespace, name } = self;
        let written = match *method {
            Method::PUT => {
                check_write(query.given_manager(), "UpdateOptions")?;
                let scale = Expected { api_version: "autoscaling/v1", kind: "Scale" }.read(headers, bytes)?.value;
                shared.write(query.dry_run, |cluster, options| {
                    cluster.update_scale(kind, namespace, name, &scale, query.options(options))
                })?
            }
            Method::PATCH => {
                let (patch, _) = body::patch(headers, bytes, Kind::scale())?;
                query.check_patch(&patch)?;
                shared.write(query.dry_run, |cluster, options| {
                    cluster.patch_scale(kind, namespace, name, &patch, query.options(options))
                })?
            }
            _ => return Err(StatusError::method_not_allowed()),
        };
        Ok(scale_reply(&kind.scale_of(&written.object.value()?), form))
    }
}

fn scale_reply(scale: &Value, form: ResponseForm) -> Reply {
    reply::json(StatusCode::OK, form.object(Kind::scale(), &scale.to_string().into(), true))
}
