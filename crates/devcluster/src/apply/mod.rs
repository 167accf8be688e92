//! Objects of manifests onto the server: merged where they exist, created where not.

mod kinds;
mod writes;

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Method, StatusCode};
use kube_controller_client::{Client, Status};
use serde_json::Value;

use self::{
    kinds::{Kinds, ResourceList, discovery_path},
    writes::Writes,
};
use crate::manifest::{Object, Origin};

/// An object that could not be applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    /// The server has no such kind.
    #[error("{origin}: this server knows no kind {kind:?} in {api_version}")]
    UnknownKind {
        /// Where the object stands.
        origin: Origin,
        /// Group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The server refused the object.
    #[error("{origin}: {object}: {cause}")]
    Refused {
        /// Where the object stands.
        origin: Origin,
        /// Which object.
        object: String,
        /// What the server says.
        cause: String,
    },
    /// The server's discovery document makes no sense.
    #[error("discovery of {api_version}: {cause}")]
    Discovery {
        /// Group and version.
        api_version: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The server cannot be reached.
    #[error(transparent)]
    Client(#[from] kube_controller_client::Error),
}

/// Applies objects, namespaces first and the rest in order; returns how many.
///
/// A kind that the server does not know is found before anything is written.
pub(crate) async fn apply(client: &Client, objects: Vec<Object>) -> Result<usize, ApplyError> {
    let kinds = discover(client, &objects).await?;
    let objects = writes::in_order(objects);
    let planned = objects.iter().map(|object| Ok((object, writes::writes(object, &kinds)?)));
    let planned = planned.collect::<Result<Vec<_>, ApplyError>>()?;
    for (object, writes) in &planned {
        write(client, writes).await.map_err(|failure| match failure {
            Failure::Client(error) => ApplyError::Client(error),
            Failure::Refused(cause) => {
                ApplyError::Refused { origin: object.origin.clone(), object: object.to_string(), cause }
            }
        })?;
        tracing::debug!(%object, "applied");
    }
    Ok(planned.len())
}

/// Asks the server about the group versions in use; those that it does not have stay empty.
async fn discover(client: &Client, objects: &[Object]) -> Result<Kinds, ApplyError> {
    let versions: BTreeSet<&str> = objects.iter().map(|object| object.api_version.as_str()).collect();
    let mut kinds = Kinds::default();
    for api_version in versions {
        let refuse = |cause: String| ApplyError::Discovery { api_version: api_version.to_owned(), cause };
        // A version that is no path at all is as unknown as any other.
        if !api_version.chars().all(|c| c.is_ascii_alphanumeric() || "-./".contains(c)) {
            continue;
        }
        let (code, body) = client.raw(Method::GET, &discovery_path(api_version), None, Vec::new()).await?;
        match code {
            StatusCode::NOT_FOUND => {}
            code if code.is_success() => {
                let list = serde_json::from_slice::<ResourceList>(&body).map_err(|error| refuse(error.to_string()))?;
                kinds.add(api_version, &list);
            }
            code => return Err(refuse(said(code, &body))),
        }
    }
    Ok(kinds)
}

enum Failure {
    Refused(String),
    Client(kube_controller_client::Error),
}

async fn write(client: &Client, writes: &Writes) -> Result<(), Failure> {
    let Writes { collection, name, object, status } = writes;
    // The patch comes first: what a manifest adds to an existing object need not be an object that could be created.
    let patched = match name {
        Some(name) => Some(send(client, Method::PATCH, &format!("{collection}/{name}"), object).await?),
        None => None,
    };
    let answer = match patched {
        Some((code, body)) if code != StatusCode::NOT_FOUND => (code, body),
        _ => send(client, Method::POST, collection, object).await?,
    };
    let stored = accepted(answer)?;
    let Some(status) = status else { return Ok(()) };
    // The server may have made the name up.
    let name = serde_json::from_slice::<Value>(&stored)
        .ok()
        .and_then(|object| Some(object.pointer("/metadata/name")?.as_str()?.to_owned()))
        .ok_or_else(|| Failure::Refused("the server does not say the name of what it stored".to_owned()))?;
    accepted(send(client, Method::PATCH, &format!("{collection}/{name}/status"), status).await?).map(drop)
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) -> Result<(StatusCode, Bytes), Failure> {
    let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = body.to_string().into_bytes();
    client.raw(method, path, Some(content_type), body).await.map_err(Failure::Client)
}

fn accepted((code, body): (StatusCode, Bytes)) -> Result<Bytes, Failure> {
    if code.is_success() { Ok(body) } else { Err(Failure::Refused(said(code, &body))) }
}

/// The server's words on one line, or its code where it has none.
fn said(code: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<Status>(body) {
        Ok(status) if !status.message.is_empty() => status.message.lines().collect::<Vec<_>>().join(" "),
        _ => format!("the server answered {code}"),
    }
}
