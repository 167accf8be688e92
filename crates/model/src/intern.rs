//! Interning: equal strings and lists of live objects share one allocation.
//!
//! Objects of a cluster repeat values: the Pods of a `ReplicaSet` have the same labels, and the name of a Pod occurs in
//! its slice and in its Endpoints. Decoded values go through the pools of this module.
//!
//! The pools are global. Their keys are the values, so several informers or clusters can share them safely. An entry
//! that only the pool refers to is garbage; each insertion checks a fixed number of entries and removes the garbage
//! among them. The work per insertion is therefore bounded, and garbage stays a small part of what changed.

use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use hashbrown::{DefaultHashBuilder, HashTable};

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

impl<P: RefCounted> Pool<P> {
    fn new() -> Self {
        let shards = std::array::from_fn(|_| Mutex::new(Shard { values: HashTable::new(), cursor: 0 }));
        Self { shards, hasher: DefaultHashBuilder::default() }
    }

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

static TEXTS: LazyLock<Pool<Text>> = LazyLock::new(Pool::new);
static LABELS: LazyLock<Pool<Arc<[Pair]>>> = LazyLock::new(Pool::new);
static PORTS: LazyLock<Pool<Arc<[NamedPort]>>> = LazyLock::new(Pool::new);
static HINTS: LazyLock<Pool<Arc<EndpointHints>>> = LazyLock::new(Pool::new);

/// Returns the interned text; empty and long texts are not pooled.
pub(crate) fn text(text: &str) -> Text {
    if text.is_empty() || text.len() > MAX_TEXT_LEN {
        return Text::from(text);
    }
    let pool = &*TEXTS;
    let hash_of = |it: &str| pool.hasher.hash_one(it);
    pool.get(hash_of(text), |it| **it == *text, || Text::from(text), |it| hash_of(it))
}

/// Returns the interned set of labels; `pairs` must be sorted and have distinct keys. The strings are interned too.
pub(crate) fn labels(pairs: &[(impl AsRef<str>, impl AsRef<str>)]) -> Arc<[Pair]> {
    if pairs.is_empty() {
        return Arc::default();
    }
    let pool = &*LABELS;
    let hash = pool.hasher.hash_one(HashPairs(pairs));
    let is = |it: &Arc<[Pair]>| {
        it.len() == pairs.len() && it.iter().zip(pairs).all(|(a, b)| *a.0 == *b.0.as_ref() && *a.1 == *b.1.as_ref())
    };
    let create = || pairs.iter().map(|(key, value)| (text(key.as_ref()), text(value.as_ref()))).collect();
    pool.get(hash, is, create, |it| pool.hasher.hash_one(HashPairs(it)))
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
    let pool = &*PORTS;
    let hash_of = |it: &[NamedPort]| pool.hasher.hash_one(it);
    pool.get(hash_of(ports), |it| **it == *ports, || Arc::from(ports), |it| hash_of(it))
}

/// Returns the interned hints; all endpoints of a zone have the same.
pub(crate) fn hints(hints: &EndpointHints) -> Arc<EndpointHints> {
    let pool = &*HINTS;
    let hash_of = |it: &EndpointHints| pool.hasher.hash_one(it);
    pool.get(hash_of(hints), |it| **it == *hints, || Arc::new(hints.clone()), |it| hash_of(it))
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
        assert!(Text::ptr_eq(&text("a-name"), &text("a-name")));
        let pairs = [("app", "web"), ("tier", "front")];
        assert!(Arc::ptr_eq(&labels(&pairs), &labels(&pairs.map(|(key, value)| (key.to_owned(), value.to_owned())))));
        assert!(!Arc::ptr_eq(&labels(&pairs), &labels(&pairs[..1])));
        let of_zone = |zone: &str| hints(&EndpointHints { for_nodes: Vec::new(), for_zones: vec![zone.into()] });
        assert!(Arc::ptr_eq(&of_zone("a"), &of_zone("a")) && !Arc::ptr_eq(&of_zone("a"), &of_zone("b")));
    }

    #[test]
    fn unused_values_are_removed() {
        let pool = Pool::new();
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
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..2_000).map(|at| text(&format!("thread-{at}"))).collect::<Vec<_>>()))
            .collect();
        let all: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
        for other in &all[1..] {
            assert!(all[0].iter().zip(other).all(|(a, b)| Text::ptr_eq(a, b)));
        }
    }
}
