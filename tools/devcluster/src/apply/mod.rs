//! Applies objects of manifests to the server: existing objects are patched with a merge patch, others are created.

mod error;
mod kinds;
mod writes;

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Method, StatusCode};
use kube_controller_client::{Client, Status};
use serde_json::Value;

pub(crate) use self::error::ApplyError;
use self::{
    kinds::{Kinds, ResourceList, discovery_path},
    writes::Writes,
};
use crate::manifest::Object;

/// Applies objects, Namespaces first and the others in the given order. Returns their number.
///
/// Kinds that the server does not serve are detected before the first write.
pub(crate) async fn apply(client: &Client, objects: Vec<Object>) -> Result<usize, ApplyError> {
    let kinds = discover(client, &objects).await?;
    let objects = writes::in_order(objects);
    let planned = objects.iter().map(|object| Ok((object, writes::writes(object, &kinds)?)));
    let planned = planned.collect::<Result<Vec<_>, ApplyError>>()?;
    for (object, writes) in &planned {
        write(client, writes).await.map_err(|failure| match failure {
            Failure::Client(error) => ApplyError::Client(error),
            Failure::Rejected(cause) => {
                ApplyError::Rejected { origin: object.origin.clone(), object: object.to_string(), cause }
            }
        })?;
        tracing::debug!(%object, "applied");
    }
    Ok(planned.len())
}

/// Fetches the discovery documents of all group versions in use. Group versions that the server does not serve stay
/// empty.
async fn discover(client: &Client, objects: &[Object]) -> Result<Kinds, ApplyError> {
    let versions: BTreeSet<&str> = objects.iter().map(|object| object.api_version.as_str()).collect();
    let mut kinds = Kinds::default();
    for api_version in versions {
        let discovery_error = |cause: String| ApplyError::Discovery { api_version: api_version.to_owned(), cause };
        // An `apiVersion` that cannot be part of a path is reported as an unknown kind.
        if !api_version.chars().all(|c| c.is_ascii_alphanumeric() || "-./".contains(c)) {
            continue;
        }
        let (code, body) = client.raw(Method::GET, &discovery_path(api_version), None, Vec::new()).await?;
        match code {
            StatusCode::NOT_FOUND => {}
            code if code.is_success() => {
                let list = serde_json::from_slice::<ResourceList>(&body)
                    .map_err(|error| discovery_error(error.to_string()))?;
                kinds.add(api_version, &list);
            }
            code => return Err(discovery_error(error_message(code, &body))),
        }
    }
    Ok(kinds)
}

enum Failure {
    Rejected(String),
    Client(kube_controller_client::Error),
}

async fn write(client: &Client, writes: &Writes) -> Result<(), Failure> {
    let Writes { collection, name, object, status } = writes;
    // Patch before create: a manifest may contain only some fields of an existing object, which would be rejected by a
    // create.
    let patched = match name {
        Some(name) => Some(send(client, Method::PATCH, &format!("{collection}/{name}"), object).await?),
        None => None,
    };
    let response = match patched {
        Some((code, body)) if code != StatusCode::NOT_FOUND => (code, body),
        _ => send(client, Method::POST, collection, object).await?,
    };
    let stored = accepted(response)?;
    let Some(status) = status else { return Ok(()) };
    // The name is read from the response, since the server may have generated it.
    let name = serde_json::from_slice::<Value>(&stored)
        .ok()
        .and_then(|object| Some(object.pointer("/metadata/name")?.as_str()?.to_owned()))
        .ok_or_else(|| Failure::Rejected("the response contains no metadata.name".to_owned()))?;
    accepted(send(client, Method::PATCH, &format!("{collection}/{name}/status"), status).await?).map(drop)
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) -> Result<(StatusCode, Bytes), Failure> {
    let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = body.to_string().into_bytes();
    client.raw(method, path, Some(content_type), body).await.map_err(Failure::Client)
}

fn accepted((code, body): (StatusCode, Bytes)) -> Result<Bytes, Failure> {
    if code.is_success() { Ok(body) } else { Err(Failure::Rejected(error_message(code, &body))) }
}

/// Returns the message of an error response on one line, or the status code if there is none.
fn error_message(code: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<Status>(body) {
        Ok(status) if !status.message.is_empty() => status.message.lines().collect::<Vec<_>>().join(" "),
        _ => format!("the server answered {code}"),
    }
}
