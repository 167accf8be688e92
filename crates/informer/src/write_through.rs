//! Own writes in the store ahead of the watch.

use std::{fmt, sync::Arc};

use kube_wire::Object;

use crate::{HandlerHandle, Objects, handle::Id, shared::Shared};

/// Puts the answers to own writes into the store of an informer, so that the store is never behind what the program wrote.
///
/// Call it with each answer before the key of the object is handed out again. Then:
/// - a [`Lister`](crate::Lister) shows the write at once;
/// - the event of the write on the watch changes nothing and is delivered to no handler;
/// - an older event, or a list that is older than the write, does not undo it;
/// - if the watch shows the write before its answer is taken in, the answer changes nothing;
/// - a write that the server acknowledged and lost (restored from a backup) is noticed with the next bookmark, and everything is
///   listed again.
///
/// Only for informers without selectors: an object that a write moves out of the selection stays stored until the next bookmark.
///
/// ```
/// use kube_informer::ManualSource;
/// # #[derive(Clone)]
/// # struct Pod { version: u64 }
/// # impl kube_wire::Object for Pod {
/// #     fn namespace(&self) -> &str { "shop" }
/// #     fn name(&self) -> &str { "web" }
/// #     fn uid(&self) -> kube_wire::Uid { "1".into() }
/// #     fn resource_version(&self) -> kube_wire::ResourceVersion { self.version.into() }
/// # }
/// let (informer, source) = ManualSource::<Pod>::new();
/// let handler = informer.add_handler(|event| println!("{event:?}"));
/// source.replace([Pod { version: 1 }], "1");
///
/// let writes = informer.write_through(&handler);
/// writes.written(Pod { version: 5 });
/// source.apply(Pod { version: 3 });
/// assert_eq!(informer.lister().get("shop", "web").map(|pod| pod.version), Some(5), "the older event is dropped");
/// ```
pub struct WriteThrough<T> {
    sink: Arc<dyn Sink<T>>,
    writer: Option<Id>,
}

/// The informer, whatever its index.
trait Sink<T>: Send + Sync {
    fn written(&self, object: T, writer: Option<Id>);
    fn deleted(&self, object: &T, writer: Option<Id>);
    fn refused(&self, object: &T);
    fn holds(&self, object: &T) -> bool;
}

impl<T: Object, X: Clone + Send + Sync + 'static> Sink<T> for Shared<T, X> {
    fn written(&self, object: T, writer: Option<Id>) {
        Shared::written(self, object, writer);
    }

    fn deleted(&self, object: &T, writer: Option<Id>) {
        Shared::deleted(self, object, writer);
    }

    fn refused(&self, object: &T) {
        Shared::refused(self, object);
    }

    fn holds(&self, object: &T) -> bool {
        let stored = |objects: &Objects<T>| Some(objects.get(object.namespace(), object.name())?.uid());
        self.store().read(|objects, _| stored(objects)) == Some(object.uid())
    }
}

impl<T: Object> WriteThrough<T> {
    pub(crate) fn new<X: Clone + Send + Sync + 'static>(shared: Arc<Shared<T, X>>, writer: &HandlerHandle) -> Self {
        Self { sink: shared, writer: writer.id() }
    }

    /// Stores the object that the server answered to a create, an update, or a delete that waits for finalizers.
    pub fn written(&self, object: T) {
        self.sink.written(object, self.writer);
    }

    /// Removes an object that the server has deleted. `object` is the state that the delete was decided on.
    pub fn deleted(&self, object: &T) {
        self.sink.deleted(object, self.writer);
    }

    /// Takes in that the server refused a write on top of this stored state as outdated (409).
    ///
    /// Mostly somebody else wrote, and the watch will show it. If the state is an own write that the watch has not confirmed, the
    /// server has lost that write: then everything is listed again.
    pub fn refused(&self, object: &T) {
        self.sink.refused(object);
    }

    /// Whether the store holds this very object, in any state.
    pub fn holds(&self, object: &T) -> bool {
        self.sink.holds(object)
    }
}

impl<T> Clone for WriteThrough<T> {
    fn clone(&self) -> Self {
        Self { sink: self.sink.clone(), writer: self.writer }
    }
}

impl<T> fmt::Debug for WriteThrough<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteThrough").field("writer", &self.writer).finish_non_exhaustive()
    }
}
