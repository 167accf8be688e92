//! Watch requests.
//!
//! A watch pulls: it reads the history from the revision it has reached whenever the
//! [`ChangeNotifier`](crate::change_notifier::ChangeNotifier) of its kind notifies. A slow client therefore never
//! blocks a writer; once the history no longer reaches back to its revision, its response ends.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures::stream;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

use super::form::ResponseForm;
use super::lag::Lag;
use super::list::{Scope, check_reached};
use super::query::Query;
use super::reply::{self, Reply};
use crate::change_notifier::Listener;
use crate::cluster::{Change, ChangeKind, Cluster, Stored};
use crate::faults::Omission;
use crate::protobuf;
use crate::shared::Shared;
use crate::status::StatusError;

/// Timeout of a watch without `timeoutSeconds`.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Maximum number of changes read from the history at once.
const BATCH: usize = 1_000;
/// Minimum size in bytes of the chunks in which initial events are sent, except the last.
const CHUNK: usize = 128 * 1024;
/// Number of times a woken watch yields to other tasks before it reads the history, so that one read covers more
/// changes. A yield takes microseconds on an idle server.
const YIELDS: usize = 4;
/// Interval between the last bookmark and the timeout of the watch.
const FINAL_BOOKMARK_LEAD: Duration = Duration::from_secs(2);

/// Annotation of the bookmark that ends the initial events of a streaming list.
const INITIAL_EVENTS_END: &str = r#","annotations":{"k8s.io/initial-events-end":"true"}"#;

struct Watch {
    shared: Arc<Shared>,
    scope: Scope,
    form: ResponseForm,
    /// Number of events sent; the first one has the column definitions of a table.
    sent: u64,
    listener: Listener,
    lag: Option<Lag>,
    /// All changes up to this revision have been sent or are included in `initial`.
    revision: u64,
    /// Initial state, sent as `ADDED` events.
    initial: std::vec::IntoIter<Arc<Stored>>,
    /// The bookmark that ends the initial events is still to be sent.
    announce_end: bool,
    /// Set by the first successful read: errors before it are sent as an event, later ones end the watch.
    started: bool,
    next_bookmark: Option<Instant>,
    deadline: Instant,
    ended: bool,
}

/// Starts a watch. Fails with 404 if the kind is not registered; for a streaming list 504 if its resource version is
/// not reached yet; 410 if the history does not reach back to the initial state.
pub(super) fn open(
    shared: &Arc<Shared>,
    scope: Scope,
    query: &Query,
    form: ResponseForm,
    lag: Option<&Lag>,
    omission: Option<&Omission>,
) -> Result<Reply, StatusError> {
    let listener = shared.subscribe(&scope.kind).ok_or_else(StatusError::no_such_path)?;
    let from_now = matches!(query.resource_version, None | Some(0));
    let streaming_list = query.send_initial_events == Some(true);
    let (initial, revision) = shared.read(|cluster| {
        let current = cluster.revision();
        let arrived = lag.map_or(current, |lag| lag.limit(current));
        if streaming_list {
            check_reached(query.resource_version, arrived)?;
        }
        // A watch without a version starts at the current state and waits until it has arrived; version 0 starts at the
        // state that has arrived.
        let state = if query.resource_version.is_none() { current } else { arrived };
        let initial = match query.send_initial_events {
            Some(send) => send,
            None => from_now,
        };
        let mut objects = if initial { scope.select_at(cluster, state)? } else { Vec::new() };
        if let Some(omission) = omission {
            omission.apply(&mut objects, |object| &object.namespace);
        }
        let revision = if initial || from_now { state } else { query.resource_version.unwrap_or(state) };
        Ok::<_, StatusError>((objects, revision))
    })?;
    let now = Instant::now();
    let deadline = now + query.timeout.filter(|it| !it.is_zero()).unwrap_or(TIMEOUT);
    let mut watch = Watch {
        shared: Arc::clone(shared),
        scope,
        form,
        sent: 0,
        listener,
        lag: lag.cloned(),
        revision,
        initial: initial.into_iter(),
        announce_end: streaming_list && query.allow_bookmarks,
        started: false,
        next_bookmark: None,
        deadline,
        ended: false,
    };
    if query.allow_bookmarks {
        watch.schedule_bookmark(now);
    }
    Ok(reply::json_stream(stream::unfold(watch, |mut watch| async move {
        let chunk = watch.next_chunk().await?;
        Some((chunk, watch))
    })))
}

impl Watch {
    /// Returns the next events, or `None` when the watch has ended.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        if !self.has_arrived().await {
            return None;
        }
        if self.initial.len() > 0 {
            return Some(self.initial_chunk());
        }
        if std::mem::take(&mut self.announce_end) {
            self.started = true;
            return Some(self.bookmark(INITIAL_EVENTS_END));
        }
        loop {
            // Before the history is read, so that a change after the read wakes `wait` again.
            self.listener.mark_seen();
            let lag_listener = self.lag.as_ref().map(Lag::listen);
            let batch = self.shared.read(|cluster| cluster.changes_after(&self.scope.kind, self.revision, BATCH));
            let mut batch = match batch {
                Ok(batch) => batch,
                Err(error) => return self.end_expired(&error),
            };
            self.started = true;
            if let Some(lag) = &self.lag {
                batch.revision = lag.limit(batch.revision).max(self.revision);
                batch.changes.retain(|change| change.object.revision <= batch.revision);
            }
            self.revision = batch.revision;
            let mut buffer = BytesMut::new();
            for change in &batch.changes {
                self.frame(change, &mut buffer);
            }
            if !buffer.is_empty() {
                return Some(buffer.freeze());
            }
            if batch.changes.len() == BATCH {
                continue;
            }
            if let Some(bookmark) = self.wait(lag_listener).await {
                return Some(bookmark);
            }
            if self.ended {
                return None;
            }
        }
    }

    /// Waits until the initial state has arrived. Returns `false` if the watch ends before.
    async fn has_arrived(&self) -> bool {
        let Some(lag) = &self.lag else { return true };
        loop {
            let lag_listener = lag.listen();
            if lag.limit(self.revision) == self.revision {
                return true;
            }
            tokio::select! {
                biased;
                () = lag_listener.changed() => {}
                () = self.shared.stopping.cancelled() => return false,
                () = sleep_until(self.deadline) => return false,
            }
        }
    }

    /// Waits for a change, the next bookmark (which is returned) or the end of the watch.
    async fn wait(&mut self, lag_listener: Option<Listener>) -> Option<Bytes> {
        let bookmark_at = self.next_bookmark.unwrap_or(self.deadline);
        tokio::select! {
            // Changes first: while changes arrive, no timer needs to be registered.
            biased;
            () = self.listener.changed() => {
                // Ready writers run first, so that their changes are sent together with this one.
                for _ in 0..YIELDS {
                    yield_now().await;
                }
            }
            () = async { if let Some(lag) = &lag_listener { lag.changed().await } }, if lag_listener.is_some() => {}
            () = self.shared.stopping.cancelled() => self.ended = true,
            () = sleep_until(self.deadline) => self.ended = true,
            () = sleep_until(bookmark_at), if self.next_bookmark.is_some() => {
                self.schedule_bookmark(bookmark_at);
                // No bookmark below the requested version: it would confirm revisions that do not exist yet.
                let reached = self.shared.read(Cluster::revision) >= self.revision;
                return reached.then(|| self.bookmark(""));
            }
        }
        None
    }

    fn schedule_bookmark(&mut self, after: Instant) {
        let regular = after + self.shared.config.bookmark_interval;
        let final_bookmark = self.deadline.checked_sub(FINAL_BOOKMARK_LEAD).filter(|at| *at > after);
        self.next_bookmark = Some(final_bookmark.map_or(regular, |final_bookmark| regular.min(final_bookmark)));
    }

    /// Ends the watch because the history no longer reaches its revision. At the start, the error is returned as an
    /// event; a watch that fell behind ends without one, and the client gets the error when it resumes.
    fn end_expired(&mut self, error: &StatusError) -> Option<Bytes> {
        self.ended = true;
        if self.started {
            tracing::debug!(kind = ?self.scope.kind, revision = self.revision, "watch fell behind; closing it");
            return None;
        }
        Some(error_event(error, self.form.is_protobuf()))
    }

    fn initial_chunk(&mut self) -> Bytes {
        let mut buffer = BytesMut::with_capacity(CHUNK);
        while buffer.len() < CHUNK {
            let Some(object) = self.initial.next() else { break };
            self.put(&mut buffer, "ADDED", &object.json);
        }
        buffer.freeze()
    }

    fn bookmark(&mut self, annotations: &str) -> Bytes {
        let metadata = format!(r#"{{"resourceVersion":"{}"{annotations}}}"#, self.revision);
        let object = self.scope.kind.bookmark(&metadata);
        let mut buffer = BytesMut::new();
        self.put(&mut buffer, "BOOKMARK", &Bytes::from(object));
        buffer.freeze()
    }

    /// Appends an event with the object in the requested form.
    fn put(&mut self, buffer: &mut BytesMut, event: &str, json: &Bytes) {
        let object = self.form.at(self.shared.now()).object(&self.scope.kind, json, self.sent == 0);
        if self.form.is_protobuf() {
            buffer.put_slice(&protobuf::watch_frame(event, &object));
        } else {
            put_event(buffer, event, &object);
        }
        self.sent += 1;
    }

    /// Appends a change as seen through the selection, which objects enter (`ADDED`) and leave (`DELETED`).
    fn frame(&mut self, change: &Change, buffer: &mut BytesMut) {
        let before = change.previous.as_deref().is_some_and(|previous| self.scope.contains(previous));
        let after = change.kind != ChangeKind::Deleted && self.scope.contains(&change.object);
        match (before, after) {
            (false, false) => {}
            (false, true) => self.put(buffer, "ADDED", &change.object.json),
            (true, true) => self.put(buffer, "MODIFIED", &change.object.json),
            (true, false) if change.kind == ChangeKind::Deleted => {
                self.put(buffer, "DELETED", &change.object.json);
            }
            // The event has the last state that was selected, at the revision of the change.
            (true, false) => {
                if let Some(last) = change.last_seen(&self.scope.kind) {
                    self.put(buffer, "DELETED", &last.json);
                }
            }
        }
    }
}

pub(super) fn error_event(error: &StatusError, in_protobuf: bool) -> Bytes {
    if in_protobuf {
        return protobuf::watch_frame("ERROR", &protobuf::status(&error.encode())).into();
    }
    let mut buffer = BytesMut::new();
    put_event(&mut buffer, "ERROR", &error.encode());
    buffer.freeze()
}

fn put_event(buffer: &mut BytesMut, event: &str, object: &[u8]) {
    buffer.put_slice(br#"{"type":""#);
    buffer.put_slice(event.as_bytes());
    buffer.put_slice(br#"","object":"#);
    buffer.put_slice(object);
    buffer.put_slice(b"}\n");
}
