//! Interning: equal strings and lists of live objects share one allocation.
//!
//! Objects of a cluster repeat values: the Pods of a `ReplicaSet` have the same labels, and the name of a Pod occurs in
//! its slice and in its Endpoints. Values that are decoded within an [`Interner`] go through its pools; others are
//! allocated.
//!
//! The keys of the pools are the values, so several informers or clusters can share an interner safely. An entry that
//! only the pool refers to is garbage; each insertion checks a fixed number of entries and removes the garbage among
//! them. The work per insertion is therefore bounded, and garbage stays a small part of what changed.

use std::cell::RefCell;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::{DefaultHashBuilder, HashTable};
use kube_wire::DecodeContext;

use crate::{EndpointHints, NamedPort, Text};

/// Number of locks per pool, so that concurrent decoders rarely contend.
const SHARDS: usize = 64;
/// Number of entries that an insertion checks for garbage; enough to keep up with growth by one entry.
const STEPS_ON_INSERTION: usize = 8;
/// Maximum length in bytes of interned text. Names and label keys have at most 317 bytes (prefix, slash, name); longer
/// text is the value of an annotation and rarely repeated.
const MAX_TEXT_LEN: usize = 320;

/// Key and value of a label or annotation.
pub(crate) type Pair = (Text, Text);

/// A reference-counted value.
trait RefCounted {
    /// Returns whether the pool holds the only reference.
    fn is_garbage(&self) -> bool;
}

impl RefCounted for Text {
    fn is_garbage(&self) -> bool {
        Text::strong_count(self) == Some(1)
    }
}

impl<T: ?Sized> RefCounted for Arc<T> {
    fn is_garbage(&self) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// A pool of values, found by `hash` and compared by the caller.
struct Pool<P> {
    shards: [Mutex<Shard<P>>; SHARDS],
    hasher: DefaultHashBuilder,
}

struct Shard<P> {
    values: HashTable<P>,
    /// Bucket at which the last search for garbage stopped.
    cursor: usize,
}

impl<P> Default for Pool<P> {
    fn default() -> Self {
        let shards = std::array::from_fn(|_| Mutex::new(Shard { values: HashTable::new(), cursor: 0 }));
        Self { shards, hasher: DefaultHashBuilder::default() }
    }
}

impl<P: RefCounted> Pool<P> {
    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard<P>> {
        // The table itself uses the highest and the lowest bits of the hash.
        let at = usize::try_from(hash >> 32).unwrap_or_default() % SHARDS;
        // A panic cannot leave a shard inconsistent: only the table's own methods modify it.
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: RefCounted + Clone> Pool<P> {
    /// Returns the pooled value for which `is` is true, or inserts the result of `create`.
    fn get(&self, hash: u64, is: impl Fn(&P) -> bool, create: impl FnOnce() -> P, hash_of: impl Fn(&P) -> u64) -> P {
        let mut shard = self.shard(hash);
        if let Some(found) = shard.values.find(hash, is) {
            return found.clone();
        }
        shard.sweep(&hash_of);
        let value = create();
        shard.values.insert_unique(hash, value.clone(), hash_of);
        value
    }
}

impl<P: RefCounted> Shard<P> {
    /// Removes the garbage among the next few entries.
    fn sweep(&mut self, hash_of: impl Fn(&P) -> u64) {
        for _ in 0..STEPS_ON_INSERTION.min(self.values.num_buckets()) {
            self.cursor = (self.cursor + 1) % self.values.num_buckets();
            if let Ok(entry) = self.values.get_bucket_entry(self.cursor)
                && entry.get().is_garbage()
            {
                entry.remove();
            }
        }
        if self.cursor < STEPS_ON_INSERTION && self.values.len() < self.values.capacity() / 4 {
            // Once per round. Capacity for twice the entries remains, so that the table does not grow again at once.
            self.values.shrink_to(self.values.len() * 2, hash_of);
        }
    }
}

/// Pools of the strings and lists that decoded objects share. Clones share the pools.
///
/// Pass one to all clients of a process, with `Client::decoding_in` of `kube-controller-client`: the Pods, slices and
/// Endpoints of its informers then share their names, and the Pods of a `ReplicaSet` their labels. Without one, objects
/// are equal, but use several times as much memory.
///
/// ```
/// use kube_endpoint_model::{Interner, Pod};
/// use kube_wire::Decode;
///
/// let interner = Interner::default();
/// let pod = interner.run(|| Pod::from_json(br#"{"metadata":{"name":"web-0","labels":{"app":"web"}}}"#))?;
/// assert_eq!(pod.labels.get("app"), Some("web"));
/// # Ok::<(), kube_wire::DecodeError>(())
/// ```
#[derive(Clone, Default)]
pub struct Interner(Arc<Pools>);

#[derive(Default)]
struct Pools {
    texts: Pool<Text>,
    labels: Pool<Arc<[Pair]>>,
    ports: Pool<Arc<[NamedPort]>>,
    hints: Pool<Arc<EndpointHints>>,
}

thread_local! {
    /// The pools of the innermost interner that this thread decodes in. Deserializers take no further argument.
    static CURRENT: RefCell<Option<Arc<Pools>>> = const { RefCell::new(None) };
}

/// Restores the outer interner when dropped.
struct Entered(Option<Arc<Pools>>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl Interner {
    /// Calls `decode`, and returns its result. The values that it decodes share the pools.
    pub fn run<R>(&self, decode: impl FnOnce() -> R) -> R {
        (self as &dyn DecodeContext).run(decode)
    }
}

impl DecodeContext for Interner {
    fn enter(&self, decode: &mut dyn FnMut()) {
        let _entered = Entered(CURRENT.replace(Some(Arc::clone(&self.0))));
        decode();
    }
}

impl fmt::Debug for Interner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interner").finish_non_exhaustive()
    }
}

/// Calls `get` with the pools of the current interner; `None` outside of one.
fn pooled<R>(get: impl FnOnce(&Pools) -> R) -> Option<R> {
    CURRENT.with_borrow(|pools| pools.as_deref().map(get))
}

/// Returns the interned text; empty and long texts are not pooled.
pub(crate) fn text(text: &str) -> Text {
    if text.is_empty() || text.len() > MAX_TEXT_LEN {
        return Text::from(text);
    }
    pooled(|pools| {
        let pool = &pools.texts;
        let hash_of = |it: &str| pool.hasher.hash_one(it);
        pool.get(hash_of(text), |it| **it == *text, || Text::from(text), |it| hash_of(it))
    })
    .unwrap_or_else(|| Text::from(text))
}

/// Returns the interned set of labels; `pairs` must be sorted and have distinct keys. The strings are interned too.
pub(crate) fn labels(pairs: &[(impl AsRef<str>, impl AsRef<str>)]) -> Arc<[Pair]> {
    if pairs.is_empty() {
        return Arc::default();
    }
    let create = || pairs.iter().map(|(key, value)| (text(key.as_ref()), text(value.as_ref()))).collect();
    pooled(|pools| {
        let pool = &pools.labels;
        let hash = pool.hasher.hash_one(HashPairs(pairs));
        let is = |it: &Arc<[Pair]>| {
            it.len() == pairs.len() && it.iter().zip(pairs).all(|(a, b)| *a.0 == *b.0.as_ref() && *a.1 == *b.1.as_ref())
        };
        pool.get(hash, is, create, |it| pool.hasher.hash_one(HashPairs(it)))
    })
    .unwrap_or_else(create)
}

/// Hashes owned and borrowed pairs alike.
struct HashPairs<'a, K, V>(&'a [(K, V)]);

impl<K: AsRef<str>, V: AsRef<str>> Hash for HashPairs<'_, K, V> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for (key, value) in self.0 {
            key.as_ref().hash(state);
            value.as_ref().hash(state);
        }
    }
}

/// Returns the interned list of container ports.
pub(crate) fn ports(ports: &[NamedPort]) -> Arc<[NamedPort]> {
    if ports.is_empty() {
        return Arc::default();
    }
    pooled(|pools| {
        let pool = &pools.ports;
        let hash_of = |it: &[NamedPort]| pool.hasher.hash_one(it);
        pool.get(hash_of(ports), |it| **it == *ports, || Arc::from(ports), |it| hash_of(it))
    })
    .unwrap_or_else(|| Arc::from(ports))
}

/// Returns the interned hints; all endpoints of a zone have the same.
pub(crate) fn hints(hints: &EndpointHints) -> Arc<EndpointHints> {
    let create = || Arc::new(hints.clone());
    pooled(|pools| {
        let pool = &pools.hints;
        let hash_of = |it: &EndpointHints| pool.hasher.hash_one(it);
        pool.get(hash_of(hints), |it| **it == *hints, create, |it| hash_of(it))
    })
    .unwrap_or_else(create)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn len<P>(pool: &Pool<P>) -> usize {
        pool.shards.iter().map(|it| it.lock().unwrap().values.len()).sum()
    }

    fn get(pool: &Pool<Text>, text: &str) -> Text {
        let hash_of = |it: &str| pool.hasher.hash_one(it);
        pool.get(hash_of(text), |it| **it == *text, || Text::from(text), |it| hash_of(it))
    }

    #[test]
    fn equal_values_share_one_allocation() {
        Interner::default().run(|| {
            assert!(Text::ptr_eq(&text("a-name"), &text("a-name")));
            let (pairs, other) =
                ([("app", "web"), ("tier", "front")], [("app".to_owned(), "web"), ("tier".to_owned(), "front")]);
            assert!(Arc::ptr_eq(&labels(&pairs), &labels(&other)));
            assert!(!Arc::ptr_eq(&labels(&pairs), &labels(&pairs[..1])));
            let of_zone = |zone: &str| hints(&EndpointHints { for_nodes: Vec::new(), for_zones: vec![zone.into()] });
            assert!(Arc::ptr_eq(&of_zone("a"), &of_zone("a")) && !Arc::ptr_eq(&of_zone("a"), &of_zone("b")));
        });
    }

    #[test]
    fn interners_share_nothing() {
        let (one, other) = (Interner::default(), Interner::default());
        let outside = text("a-name");
        let inside = one.run(|| {
            assert!(!Text::ptr_eq(&text("a-name"), &other.run(|| text("a-name"))), "the inner interner applies");
            text("a-name")
        });
        assert!(Text::ptr_eq(&inside, &one.clone().run(|| text("a-name"))), "a clone shares the pools");
        assert!(!Text::ptr_eq(&inside, &text("a-name")) && inside == outside, "outside, nothing is pooled");
    }

    #[test]
    fn unused_values_are_removed() {
        let pool = Pool::default();
        let kept: Vec<Text> = (0..1_000).map(|at| get(&pool, &format!("kept-{at}"))).collect();
        for at in 0..100_000 {
            get(&pool, &format!("gone-{at}"));
        }
        assert!(len(&pool) < 4_000, "{} entries for {} in use", len(&pool), kept.len());
        for text in &kept {
            assert!(Text::ptr_eq(text, &get(&pool, text)), "{text} was lost");
        }
        let buckets: usize = pool.shards.iter().map(|it| it.lock().unwrap().values.num_buckets()).sum();
        assert!(buckets < 8_000, "{buckets} buckets");
    }

    #[test]
    fn threads_share_interned_values() {
        let interner = Interner::default();
        let decode = || (0..2_000).map(|at| text(&format!("thread-{at}"))).collect::<Vec<_>>();
        let start = |interner: Interner| std::thread::spawn(move || interner.run(decode));
        let threads: Vec<_> = (0..4).map(|_| start(interner.clone())).collect();
        let all: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
        for other in &all[1..] {
            assert!(all[0].iter().zip(other).all(|(a, b)| Text::ptr_eq(a, b)));
        }
    }
}
