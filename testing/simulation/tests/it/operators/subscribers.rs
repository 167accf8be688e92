//! Law of the subscribers at the end of a run: each change and deletion has reached each of them, also if it fell into a relist, and
//! a subscriber that was not polled gets each object once, in its newest state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _, future};
use kube::ResourceExt as _;
use kube::runtime::reflector::{ObjectRef, Store};
use kube_dev_apiserver::Server;
use kube_informer::runtime::{Cache, CachedResource};
use serde_json::Value;

type Check = Box<dyn FnMut(&Server) -> Vec<String> + Send>;

/// Checks of the process that was started last.
#[derive(Clone, Default)]
pub(super) struct Checks {
    checks: Arc<Mutex<Vec<Check>>>,
}

impl Checks {
    /// Drops the checks of an earlier process.
    pub(super) fn begin(&self) {
        self.locked().clear();
    }

    /// Returns what is wrong with the stores and subscribers, compared with the server.
    pub(super) fn differences(&self, server: &Server) -> Vec<String> {
        let mut checks = self.locked();
        if checks.is_empty() {
            return vec!["no process has been started".to_owned()];
        }
        checks.iter_mut().flat_map(|check| check(server)).collect()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Vec<Check>> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Namespace, name and uid of an object.
type Identity = (String, String, String);

fn identity<K: CachedResource>(object: &K) -> Identity {
    (object.namespace().unwrap_or_default(), object.name_any(), object.uid().unwrap_or_default())
}

/// Objects that a subscriber got, each with the version that the store had then: `None` if it had been deleted.
type Seen = BTreeMap<Identity, Option<String>>;

/// Returns the version of an object in a store; `None` if it has none of this uid.
fn version<K: CachedResource>(store: &Store<K>, object: &K) -> Option<String> {
    let stored = store.get(&ObjectRef::from_obj(object))?;
    stored.resource_version().filter(|_| stored.uid() == object.uid())
}

/// Follows a cache with subscribers: one of each kind of stream, and one that is not polled before the check.
///
/// `is_selected` returns whether the cache selects an object of the server.
pub(super) fn follow<K: CachedResource>(
    checks: &Checks,
    cache: &Cache<K>,
    plural: &'static str,
    is_selected: fn(&Value) -> bool,
) -> BoxFuture<'static, ()> {
    let (touched, applied) = (Arc::<Mutex<Seen>>::default(), Arc::<Mutex<Seen>>::default());
    let following =
        [(cache.touched_objects().boxed(), touched.clone()), (cache.applied_objects().boxed(), applied.clone())];
    let following = following.map(|(stream, seen)| record(stream, cache.store(), seen));
    let (mut unpolled, store) = (cache.touched_objects().boxed(), cache.store());
    let (mut got_late, mut not_newest) = (Seen::new(), Vec::new());
    checks.locked().push(Box::new(move |server| {
        let mut wrong = stored(&store, server, plural, is_selected);
        // A later check gets nothing of what was queued before.
        not_newest.extend(take(&mut unpolled, &store, &mut got_late));
        wrong.extend(not_newest.clone());
        let seen = |seen: &Mutex<Seen>| seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        wrong.extend(missed(&got_late, &store, true).map(|it| format!("late subscriber: {it}")));
        wrong.extend(missed(&seen(&touched), &store, true).map(|it| format!("touched objects: {it}")));
        wrong.extend(missed(&seen(&applied), &store, false).map(|it| format!("applied objects: {it}")));
        wrong.into_iter().map(|it| format!("{plural}: {it}")).collect()
    }));
    future::join_all(following).map(drop).boxed()
}

async fn record<K: CachedResource>(mut stream: BoxStream<'static, Arc<K>>, store: Store<K>, seen: Arc<Mutex<Seen>>) {
    while let Some(object) = stream.next().await {
        let version = version(&store, &*object);
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert(identity(&*object), version);
    }
}

/// Takes what has been queued for a subscriber. Returns what is not the newest state, and what it gets twice.
fn take<K: CachedResource>(stream: &mut BoxStream<'static, Arc<K>>, store: &Store<K>, seen: &mut Seen) -> Vec<String> {
    let (mut wrong, mut taken) = (Vec::new(), BTreeSet::new());
    while let Some(Some(object)) = stream.next().now_or_never() {
        let newest = version(store, &*object);
        if newest.is_some() && newest != object.resource_version() {
            wrong.push(format!("{:?} comes at {:?}, not {newest:?}", identity(&*object), object.resource_version()));
        }
        if !taken.insert(identity(&*object)) {
            wrong.push(format!("{:?} comes twice", identity(&*object)));
        }
        seen.insert(identity(&*object), newest);
    }
    wrong
}

/// Returns the objects whose last change has not reached a subscriber, and with `deletions`, whose deletion has not.
fn missed<'a, K: CachedResource>(
    seen: &'a Seen,
    store: &Store<K>,
    deletions: bool,
) -> impl Iterator<Item = String> + use<'a, K> {
    let stored = store.state().into_iter().map(|object| (identity(&*object), object.resource_version()));
    let stored: BTreeMap<_, _> = stored.collect();
    let unseen: Vec<_> = stored.iter().filter(|(it, version)| seen.get(it) != Some(version)).map(differs).collect();
    let gone =
        seen.iter().filter(move |(it, last)| deletions && last.is_some() && !stored.contains_key(it)).map(differs);
    unseen.into_iter().chain(gone)
}

fn differs((identity, version): (&Identity, impl Debug)) -> String {
    format!("the last change of {identity:?} was missed, {version:?}")
}

/// Returns the differences between a store and the server.
fn stored<K: CachedResource>(
    store: &Store<K>,
    server: &Server,
    plural: &str,
    is_selected: fn(&Value) -> bool,
) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let on_server: BTreeSet<_> = server
        .objects("", plural)
        .iter()
        .filter(|object| is_selected(object))
        .map(|object| &object["metadata"])
        .map(|it| ((text(&it["namespace"]), text(&it["name"]), text(&it["uid"])), text(&it["resourceVersion"])))
        .collect();
    let stored = store.state().into_iter();
    let stored = stored.map(|it| (identity(&*it), it.resource_version().unwrap_or_default())).collect::<BTreeSet<_>>();
    let differing = stored.symmetric_difference(&on_server);
    differing.map(|it| format!("{it:?} is {} stored", if stored.contains(it) { "wrongly" } else { "not" })).collect()
}
