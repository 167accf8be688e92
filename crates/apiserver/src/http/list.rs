//! Lists.

use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures::stream;

use super::query::{Query, VersionMatch};
use super::reply::{self, Reply};
use crate::cluster::{Cluster, Stored};
use crate::kinds::Kind;
use crate::selector::Selector;
use crate::shared::Shared;
use crate::status::StatusError;

/// How much of a list is encoded at a time.
const CHUNK: usize = 128 * 1024;

/// Which objects a list or watch is about.
pub(super) struct Scope {
    pub(super) kind: Arc<Kind>,
    pub(super) namespace: Option<String>,
    pub(super) selector: Selector,
}

impl Scope {
    /// The objects selected, in the order of their keys.
    pub(super) fn select(&self, cluster: &Cluster) -> Vec<Arc<Stored>> {
        // The selector is tried on what is in the namespace; that is a walk over references, nothing is decoded.
        let mut objects = match (self.selector.fields.name(), self.namespace.as_deref()) {
            (Some(name), Some(namespace)) => cluster.get(&self.kind, namespace, name).into_iter().collect(),
            (Some(name), None) if !self.kind.namespaced => cluster.get(&self.kind, "", name).into_iter().collect(),
            (_, namespace) => cluster.list(&self.kind, namespace),
        };
        objects.retain(|object| self.selector.matches(object));
        objects
    }

    /// Whether an object is selected.
    pub(super) fn contains(&self, object: &Stored) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| namespace == &*object.namespace)
            && self.selector.matches(object)
    }
}

/// Refuses a version that this server has not reached yet.
pub(super) fn check_reached(asked: Option<u64>, current: u64) -> Result<(), StatusError> {
    match asked {
        Some(asked) if asked > current => Err(StatusError::too_large_version(asked, current)),
        _ => Ok(()),
    }
}

/// Answers a list request: always with the current state, which satisfies every version asked for but an exact old one.
pub(super) fn answer(shared: &Shared, scope: &Scope, query: &Query) -> Result<Reply, StatusError> {
    let (objects, revision) = shared.read(|cluster| {
        let revision = cluster.revision();
        check_reached(query.resource_version, revision)?;
        if query.resource_version_match == Some(VersionMatch::Exact)
            && let Some(asked) = query.resource_version
            && asked != revision
        {
            return Err(StatusError::expired(asked, revision));
        }
        Ok((scope.select(cluster), revision))
    })?;
    Ok(of_objects(&scope.kind, objects, revision))
}

/// A list of these objects, encoded piece by piece while it is sent.
pub(super) fn of_objects(kind: &Kind, objects: Vec<Arc<Stored>>, revision: u64) -> Reply {
    let head = format!(
        r#"{{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{revision}"}},"items":["#,
        kind.name,
        kind.api_version()
    );
    let state = Some((BytesMut::from(head.as_bytes()), objects.into_iter(), true));
    reply::json_stream(stream::unfold(state, |state| async move {
        let (mut buffer, mut objects, mut first) = state?;
        while buffer.len() < CHUNK {
            let Some(object) = objects.next() else {
                buffer.put_slice(b"]}\n");
                return Some((buffer.freeze(), None));
            };
            buffer.put_slice(if first { b"{" } else { b",{" });
            buffer.put_slice(object.untyped_json());
            first = false;
        }
        Some((Bytes::from(buffer), Some((BytesMut::with_capacity(CHUNK), objects, first))))
    }))
}
