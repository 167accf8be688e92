//! List requests.

use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures::stream;
use serde::Serialize;

use super::continuation::Continuation;
use super::form::ResponseForm;
use super::lag::Lag;
use super::query::{Query, VersionMatch};
use super::reply::{self, Reply};
use crate::cluster::{Cluster, Page, PageRequest, Stored, TooOld};
use crate::faults::Omission;
use crate::kinds::Kind;
use crate::protobuf::ListEnvelope;
use crate::selector::Selector;
use crate::shared::Shared;
use crate::status::StatusError;
use crate::table::Printer;

/// Minimum size in bytes of the chunks in which a list is sent, except the last.
const CHUNK: usize = 128 * 1024;

/// Objects selected by a list or watch: kind, namespace (`None` for all) and selectors.
pub(super) struct Scope {
    pub(super) kind: Arc<Kind>,
    pub(super) namespace: Option<String>,
    pub(super) selector: Selector,
}

impl Scope {
    /// Returns the objects selected at `revision`, ordered by key. Fails with 410 if that is before the history.
    pub(super) fn select_at(&self, cluster: &Cluster, revision: u64) -> Result<Vec<Arc<Stored>>, StatusError> {
        let (namespace, selector) = (self.namespace.clone(), self.selector.clone());
        let request = PageRequest { namespace, selector, revision: Some(revision), ..PageRequest::default() };
        let page = cluster.page(&self.kind, &request).map_err(|TooOld| StatusError::expired_list())?;
        Ok(page.objects)
    }

    pub(super) fn contains(&self, object: &Stored) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| namespace == &*object.namespace)
            && self.selector.matches(object)
    }
}

/// Rejects a version later than `current`. Fails with 504 with the cause `ResourceVersionTooLarge`.
pub(super) fn check_reached(requested: Option<u64>, current: u64) -> Result<(), StatusError> {
    match requested {
        Some(requested) if requested > current => Err(StatusError::too_large_version(requested, current)),
        _ => Ok(()),
    }
}

/// Answers a list request.
///
/// The current state satisfies every requested version except an exact one. Later pages are read at the version of the
/// first page, reconstructed from the history. With a lag, the last state that arrived is used instead of the current
/// one, unless the request has no resource version. An omission applies to each page.
pub(super) fn handle(
    shared: &Shared,
    scope: &Scope,
    query: &Query,
    form: ResponseForm,
    lag: Option<&Lag>,
    omission: Option<&Omission>,
) -> Result<Reply, StatusError> {
    let page = shared.read(|cluster| {
        let arrived = lag.map_or(cluster.revision(), |lag| lag.limit(cluster.revision()));
        check_reached(query.resource_version, arrived)?;
        let mut request = PageRequest {
            namespace: scope.namespace.clone(),
            selector: scope.selector.clone(),
            limit: query.limit,
            revision: query.resource_version.map(|_| arrived),
            ..PageRequest::default()
        };
        if let Some(continuation) = &query.continuation {
            check_reached(continuation.revision, cluster.revision())?;
            request.revision = continuation.revision;
            request.after = Some(continuation.after.clone());
            return cluster.page(&scope.kind, &request).map_err(|TooOld| {
                let from_now = Continuation { revision: None, after: continuation.after.clone() };
                StatusError::expired_continue(&from_now.encode())
            });
        }
        match (query.resource_version, query.resource_version_match) {
            // Version 0 is served from the watch cache upstream, which ignores the limit.
            (Some(0), _) => request.limit = None,
            (Some(requested), Some(VersionMatch::Exact)) => request.revision = Some(requested),
            // A limit without `resourceVersionMatch` implies `Exact`, for clients older than that parameter.
            (Some(requested), None) if query.limit.is_some() => request.revision = Some(requested),
            _ => {}
        }
        cluster.page(&scope.kind, &request).map_err(|TooOld| StatusError::expired_list())
    })?;
    let Page { mut objects, revision, last, remaining } = page;
    if let Some(omission) = omission {
        omission.apply(&mut objects, |object| &object.namespace);
    }
    let next = last.map(|after| Continuation { revision: Some(revision), after }.encode());
    Ok(of_objects(&scope.kind, objects, &ListMeta { revision, next, remaining }, form))
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListMeta {
    #[serde(rename = "resourceVersion", serialize_with = "as_text")]
    pub(super) revision: u64,
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    #[serde(rename = "remainingItemCount", skip_serializing_if = "Option::is_none")]
    pub(super) remaining: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "signature required by serde")]
fn as_text<S: serde::Serializer>(revision: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(revision)
}

/// Returns a list of `objects`, encoded in chunks while it is sent.
pub(super) fn of_objects(kind: &Arc<Kind>, objects: Vec<Arc<Stored>>, meta: &ListMeta, form: ResponseForm) -> Reply {
    if form.is_protobuf() {
        return in_protobuf(kind, objects, meta, form);
    }
    let head = BytesMut::from(form.list_head(kind, meta).as_bytes());
    let state = Some((Arc::clone(kind), head, objects.into_iter(), true));
    reply::json_stream(stream::unfold(state, move |state| async move {
        let (kind, mut buffer, mut objects, mut first) = state?;
        let printer = Printer::of(&kind);
        while buffer.len() < CHUNK {
            let Some(object) = objects.next() else {
                buffer.put_slice(b"]}\n");
                return Some((buffer.freeze(), None));
            };
            buffer.put_slice(if first { b"{" } else { b",{" });
            form.put_item(&printer, &object, &mut buffer);
            first = false;
        }
        Some((Bytes::from(buffer), Some((kind, BytesMut::with_capacity(CHUNK), objects, first))))
    }))
}

/// Returns a protobuf list. Its length prefix requires all items to be encoded before the first is sent.
fn in_protobuf(kind: &Kind, objects: Vec<Arc<Stored>>, meta: &ListMeta, form: ResponseForm) -> Reply {
    let mut pieces = Vec::new();
    let mut buffer = BytesMut::with_capacity(CHUNK);
    for object in objects {
        buffer.put_slice(&form.protobuf_item(kind, &object));
        if buffer.len() >= CHUNK {
            pieces.push(buffer.split().freeze());
        }
    }
    pieces.push(buffer.freeze());
    let length = pieces.iter().map(Bytes::len).sum();
    let meta = serde_json::to_value(meta).unwrap_or_default();
    let ListEnvelope { head, tail } = ListEnvelope::new(&kind.api_version(), &kind.name, &meta, length);
    let all = std::iter::once(Bytes::from(head)).chain(pieces).chain([Bytes::from(tail)]);
    reply::json_stream(stream::iter(all.collect::<Vec<_>>()))
}
