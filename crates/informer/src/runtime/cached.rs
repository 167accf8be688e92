//! Objects of `kube` in the store of an informer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::{Resource, ResourceExt as _};
use kube_wire::{Decode, DecodeError, DecodeProblem, Object, ObjectKey, ResourceVersion, Uid, json};
use serde::de::DeserializeOwned;

/// An object whose contents are those in the store of `kube`, so that they are kept once.
pub(super) struct Cached<K> {
    key: ObjectKey,
    uid: Uid,
    version: ResourceVersion,
    /// `None` while the contents are in a first list that is not complete.
    contents: Mutex<Option<Contents<K>>>,
}

enum Contents<K> {
    /// Decoded, and in no store of `kube`.
    Own(Box<K>),
    Shared(Arc<K>),
}

impl<K> Cached<K> {
    /// Returns the object; `None` while the first list is stored.
    pub(super) fn object(&self) -> Option<Arc<K>> {
        let mut contents = self.locked();
        let object = match contents.take()? {
            Contents::Own(object) => Arc::from(object),
            Contents::Shared(object) => object,
        };
        *contents = Some(Contents::Shared(object.clone()));
        Some(object)
    }

    /// Calls `read` with the object, without a reference that outlives the call.
    pub(super) fn read<R>(&self, read: impl FnOnce(&K) -> R) -> Option<R> {
        match self.locked().as_ref()? {
            Contents::Own(object) => Some(read(object)),
            Contents::Shared(object) => Some(read(object)),
        }
    }

    /// Moves the contents to `store`, and keeps what it returns.
    pub(super) fn place(&self, store: impl FnOnce(K) -> Option<Arc<K>>)
    where
        K: Clone,
    {
        let mut contents = self.locked();
        let object = match contents.take() {
            Some(Contents::Own(object)) => *object,
            // Read by an index or a subscriber before the store of `kube` had it.
            Some(Contents::Shared(object)) => Arc::unwrap_or_clone(object),
            None => return,
        };
        *contents = store(object).map(Contents::Shared);
    }

    /// Keeps the contents that a store of `kube` returned for an object of the first list.
    pub(super) fn placed(&self, object: Arc<K>) {
        *self.locked() = Some(Contents::Shared(object));
    }

    fn locked(&self) -> MutexGuard<'_, Option<Contents<K>>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Send + Sync + 'static> Object for Cached<K> {
    fn namespace(&self) -> &str {
        &self.key.namespace
    }

    fn name(&self) -> &str {
        &self.key.name
    }

    fn uid(&self) -> Uid {
        self.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.version.clone()
    }

    fn key(&self) -> ObjectKey {
        self.key.clone()
    }
}

impl<K> Decode for Cached<K>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
{
    /// None: `kube` names the resource of a type at run time.
    const RESOURCE: kube_wire::Resource = kube_wire::Resource::namespaced("", "", "", "Object");

    const READS_MANAGED_FIELDS: bool = false;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        let kind = K::kind(&());
        let mut object: K = json::from_slice_with_times(&kind, bytes)?;
        let metadata = object.meta_mut();
        // A server that does not leave them out sends them, and they are more than half of many objects.
        metadata.managed_fields = None;
        let Some(name) = metadata.name.as_deref() else {
            return Err(DecodeError::new(&kind, DecodeProblem::MissingName));
        };
        Ok(Self {
            key: ObjectKey::new(metadata.namespace.as_deref().unwrap_or_default(), name),
            uid: metadata.uid.as_deref().map(Uid::from).unwrap_or_default(),
            version: object.resource_version().as_deref().map(ResourceVersion::from).unwrap_or_default(),
            contents: Mutex::new(Some(Contents::Own(Box::new(object)))),
        })
    }
}
