//! The decoders and the store of one type of object.

use std::{mem, sync::Arc};

use kube_wire::{
    Accept, Decode, DecodeError, Encoding, EventHead, EventType, ListMeta, ListReader, ObjectKey, Received,
    ResourceVersion, Uid, Undecodable, WatchEvent, WatchReader,
};
use tokio::time::Instant;

use super::{
    error::ReflectorError,
    gather::{Complete, Gathered},
    steps::Observation,
    stream_progress::StreamProgress,
    undecodable::UndecodableObjects,
};
use crate::{
    Index, OnUndecodable,
    guard::{Missing, Reference},
    list_watch::Source,
    shared::Shared,
    state::StoreHead,
};

/// Gets the encoding and the bytes of each object that a watch delivers.
type Observe<'a> = Option<&'a dyn Fn(Encoding, &[u8])>;

/// The part of a reflector that depends on the type of the objects. All else is compiled once.
pub(super) trait Cache: Send + Sync {
    fn store(&self) -> StoreHead;

    /// Returns what requests in this encoding accept.
    fn accept(&self, encoding: Encoding) -> Accept;

    /// Begins a streaming list or list. With `most_recent`, the server reads it from etcd.
    fn begin_list(&mut self, most_recent: bool);

    /// Drops the objects of a list that is not complete.
    fn clear(&mut self);

    fn open_page(&mut self, encoding: Encoding);

    /// Gathers the objects of a page up to the end of a chunk.
    fn gather(&mut self, chunk: &[u8], undecodable: &mut UndecodableObjects) -> Result<(), ReflectorError>;

    fn finish_page(&mut self) -> Result<ListMeta, ReflectorError>;

    fn open_watch(&mut self, encoding: Encoding, version: ResourceVersion);

    fn push(&mut self, chunk: &[u8]);

    /// Applies the next event of the watch; `None` until more bytes are pushed. Gathers it if it is one of a streaming
    /// list, which has `progress`. [`Observation::Listed`] means that this list is complete, and is to be stored.
    fn next_event(
        &mut self,
        progress: Option<&mut StreamProgress>,
        observe: Observe<'_>,
        undecodable: &mut UndecodableObjects,
    ) -> Result<Option<Observation>, ReflectorError>;

    /// Returns an error if the watch has ended within an event.
    fn finish_watch(&self) -> Result<(), DecodeError>;

    /// Ends the list. [`replace`](Self::replace) stores its objects.
    fn complete(&mut self) -> Complete;

    /// Puts the objects of the complete list into the store as one change.
    ///
    /// # Errors
    ///
    /// The objects that the list lacks, if there are more than `treatment` allows. The store is unchanged.
    fn replace(&mut self, version: &ResourceVersion, treatment: Missing) -> Result<(), Vec<Reference>>;

    /// Removes an object whose last state is unknown.
    fn remove_unknown(&self, key: &ObjectKey, version: &ResourceVersion);
}

pub(super) struct TypedCache<T, X> {
    source: Source,
    shared: Arc<Shared<T, X>>,
    /// Objects of a streaming list or paged list that is not complete yet.
    gathered: Gathered<T>,
    /// Objects of a list that is complete, but not stored.
    complete: Vec<Arc<T>>,
    page: Option<ListReader<T>>,
    watch: Option<WatchReader<T>>,
}

impl<T: Decode, X: Index<T>> TypedCache<T, X> {
    pub(super) fn new(source: Source, shared: Arc<Shared<T, X>>) -> Self {
        Self { source, shared, gathered: Gathered::new(), complete: Vec::new(), page: None, watch: None }
    }

    fn located(&self, error: DecodeError) -> DecodeError {
        error.with_resource_version(&self.shared.lister().last_resource_version())
    }

    /// Gathers an event of a streaming list.
    fn gather_event(
        &mut self,
        event: WatchEvent<T>,
        undecodable: &mut UndecodableObjects,
    ) -> Result<Observation, ReflectorError> {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                self.gathered.push(self.shared.intern(object));
            }
            WatchEvent::Deleted(object) => self.gathered.remove(object.key()),
            WatchEvent::Undecodable { event, object } => self.gather_undecodable(event, *object, undecodable)?,
            WatchEvent::Bookmark { resource_version: version, initial_events_end: true } => {
                if version.is_empty() {
                    return Err(ReflectorError::Unversioned);
                }
                return Ok(Observation::Listed { version, held: false });
            }
            WatchEvent::Bookmark { .. } => {}
            WatchEvent::Error(status) => return Err(ReflectorError::ErrorEvent(Box::new(status))),
        }
        Ok(Observation::Progress { version: ResourceVersion::default(), added: true })
    }

    /// Gathers an undecodable object of a list or streaming list.
    fn gather_undecodable(
        &mut self,
        event: EventType,
        it: Undecodable,
        undecodable: &mut UndecodableObjects,
    ) -> Result<(), ReflectorError> {
        if event == EventType::Deleted
            && let Some(key) = it.key
        {
            self.gathered.remove(key);
            return Ok(());
        }
        let choice = undecodable.report(&it)?;
        match it.key {
            Some(key) => self.gathered.mark_undecodable(key, it.uid, choice == OnUndecodable::Skip),
            None => self.gathered.skip(it.error),
        }
        Ok(())
    }

    fn apply(&self, event: WatchEvent<T>, undecodable: &mut UndecodableObjects) -> Result<Observation, ReflectorError> {
        let added = matches!(event, WatchEvent::Added(_));
        let version = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let version = object.resource_version();
                undecodable.clear(|| object.key());
                self.shared.upsert(object);
                version
            }
            WatchEvent::Deleted(object) => {
                let version = object.resource_version();
                undecodable.clear(|| object.key());
                self.shared.delete(object);
                version
            }
            WatchEvent::Bookmark { resource_version, .. } => {
                self.shared.bookmark(&resource_version);
                resource_version
            }
            WatchEvent::Undecodable { event, object } => return self.apply_undecodable(event, *object, undecodable),
            WatchEvent::Error(status) => return Err(ReflectorError::ErrorEvent(Box::new(status))),
        };
        Ok(Observation::Progress { version, added })
    }

    /// Applies an event of an undecodable object to the store. A deletion needs only the name. Otherwise the stored
    /// state is removed if the object is to be skipped, or if its uid shows that it belongs to an earlier object of
    /// that name.
    fn apply_undecodable(
        &self,
        event: EventType,
        it: Undecodable,
        undecodable: &mut UndecodableObjects,
    ) -> Result<Observation, ReflectorError> {
        let deleted = event == EventType::Deleted;
        if deleted && let Some(key) = &it.key {
            self.shared.remove_unknown(key, &it.resource_version);
            undecodable.clear(|| key.clone());
        } else {
            let is_skipped = undecodable.report(&it)? == OnUndecodable::Skip;
            if let Some(key) = &it.key
                && let Some(stored) = self.shared.stored(key)
                && (is_skipped || !uids_may_match(&stored.uid(), &it.uid))
            {
                self.shared.remove_unknown(key, &it.resource_version);
            }
        }
        // Not a bookmark: there may be many between an own delete and its event.
        self.shared.advance(&it.resource_version);
        Ok(Observation::Progress { version: it.resource_version, added: event == EventType::Added })
    }
}

impl<T: Decode, X: Index<T>> Cache for TypedCache<T, X> {
    fn store(&self) -> StoreHead {
        self.shared.lister().head()
    }

    fn accept(&self, encoding: Encoding) -> Accept {
        Accept::of::<T>(encoding)
    }

    fn begin_list(&mut self, most_recent: bool) {
        self.gathered.clear();
        self.shared.list_requested(most_recent);
    }

    fn clear(&mut self) {
        self.gathered.clear();
    }

    fn open_page(&mut self, encoding: Encoding) {
        self.page = Some(self.source.list_reader(&self.shared.untyped.resource, encoding));
    }

    fn gather(&mut self, chunk: &[u8], undecodable: &mut UndecodableObjects) -> Result<(), ReflectorError> {
        let Some(mut items) = self.page.take() else { return Ok(()) };
        items.push(chunk);
        while let Some(object) = self.source.decode(|| items.next_item()).map_err(|error| self.located(error))? {
            match object {
                Ok(object) => self.gathered.push(self.shared.intern(object)),
                Err(it) => self.gather_undecodable(EventType::Added, *it, undecodable)?,
            }
        }
        self.page = Some(items);
        Ok(())
    }

    fn finish_page(&mut self) -> Result<ListMeta, ReflectorError> {
        let page = self.page.take().unwrap_or_else(|| ListReader::new(Encoding::Json));
        Ok(page.finish().map_err(|error| self.located(error))?)
    }

    fn open_watch(&mut self, encoding: Encoding, version: ResourceVersion) {
        self.watch = Some(WatchReader::new(encoding, version));
    }

    fn push(&mut self, chunk: &[u8]) {
        if let Some(watch) = &mut self.watch {
            watch.push(chunk);
        }
    }

    fn next_event(
        &mut self,
        progress: Option<&mut StreamProgress>,
        observe: Observe<'_>,
        undecodable: &mut UndecodableObjects,
    ) -> Result<Option<Observation>, ReflectorError> {
        let Self { source, shared, watch: Some(watch), .. } = self else { return Ok(None) };
        let is_own = |head: &EventHead| shared.confirm(head);
        let is_own = (progress.is_none() && shared.lister().state().own.awaits_writes()).then_some(is_own);
        let event = match source.decode(|| watch.next_event_observed(is_own, observe))? {
            Some(Received::Event(event)) => event,
            // The event of an own write that the store contains already.
            Some(Received::Known(EventHead { added, key, resource_version: version })) => {
                undecodable.clear(|| key);
                return Ok(Some(Observation::Progress { version, added }));
            }
            None => return Ok(None),
        };
        match progress {
            Some(progress) => {
                progress.record(&event, Instant::now())?;
                self.gather_event(event, undecodable).map(Some)
            }
            None => self.apply(event, undecodable).map(Some),
        }
    }

    fn finish_watch(&self) -> Result<(), DecodeError> {
        self.watch.as_ref().map_or(Ok(()), WatchReader::finish)
    }

    fn complete(&mut self) -> Complete {
        let shared = &self.shared;
        let stored = |key: &ObjectKey| shared.stored(key);
        let (objects, complete) = self.gathered.take(stored, |stored, uid| uids_may_match(&stored.uid(), uid));
        self.complete = objects;
        complete
    }

    fn replace(&mut self, version: &ResourceVersion, treatment: Missing) -> Result<(), Vec<Reference>> {
        let objects = mem::take(&mut self.complete);
        if let Missing::AtMost(_) = treatment {
            self.complete.clone_from(&objects);
        }
        self.shared.replace(objects, version.clone(), treatment)?;
        self.complete = Vec::new();
        Ok(())
    }

    fn remove_unknown(&self, key: &ObjectKey, version: &ResourceVersion) {
        self.shared.remove_unknown(key, version);
    }
}

fn uids_may_match(one: &Uid, other: &Uid) -> bool {
    one.is_empty() || other.is_empty() || one == other
}
