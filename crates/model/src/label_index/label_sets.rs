//! The distinct sets of labels of the objects of one namespace.

use std::hash::BuildHasher;
use std::sync::Arc;

use educe::Educe;
use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use crate::Labels;
use crate::by_name::ByName;
use crate::intern::Pair;
use crate::label_index::Labelled;

/// Index of a set in [`LabelSets::sets`].
type SetId = u32;

/// Objects by their set of labels, and sets of labels by each pair that they contain.
///
/// In the worst case each object has a set of its own (a `StatefulSet` puts the Pod's name into its labels). Entries
/// therefore do not store what can be read from one of their objects.
#[derive(Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
pub(super) struct LabelSets<T> {
    /// Objects of each set, all with the same labels; empty for a free slot.
    sets: Vec<ByName<T>>,
    free: Vec<SetId>,
    by_labels: HashTable<SetId>,
    by_pair: HashTable<SetsOfPair>,
    hasher: DefaultHashBuilder,
}

/// Sets that contain one pair.
#[derive(Clone, Debug)]
enum SetsOfPair {
    /// One set, with the pair's position in its labels.
    One { set: SetId, position: u32 },
    /// Several sets in ascending order, and the pair itself.
    Many(Box<(Pair, Vec<SetId>)>),
}

/// Converts an id to an index. A set takes more than one byte of memory, so there are fewer than 2^32.
fn index(set: SetId) -> usize {
    usize::try_from(set).unwrap_or(usize::MAX)
}

fn labels<T: Labelled>(sets: &[ByName<T>], set: SetId) -> Option<&Labels> {
    sets.get(index(set))?.as_slice().first().map(|object| object.labels())
}

impl SetsOfPair {
    fn pair<'a, T: Labelled>(&'a self, sets: &'a [ByName<T>]) -> Option<&'a Pair> {
        match self {
            SetsOfPair::One { set, position } => labels(sets, *set)?.pairs().get(index(*position)),
            SetsOfPair::Many(many) => Some(&many.0),
        }
    }

    fn sets(&self) -> &[SetId] {
        match self {
            SetsOfPair::One { set, .. } => std::slice::from_ref(set),
            SetsOfPair::Many(many) => &many.1,
        }
    }
}

impl<T: Labelled> LabelSets<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.by_labels.is_empty()
    }

    /// Adds an object, or replaces the one with the same name and labels.
    pub(super) fn insert(&mut self, object: &Arc<T>) {
        let hash = self.hasher.hash_one(Some(object.labels()));
        let found = self.by_labels.find(hash, |set| labels(&self.sets, *set) == Some(object.labels()));
        match found {
            Some(set) => self.sets[index(*set)].insert(Arc::clone(object)),
            None => self.add_set(hash, object),
        }
    }

    fn add_set(&mut self, hash: u64, object: &Arc<T>) {
        let set = self.free.pop().unwrap_or_else(|| {
            self.sets.push(ByName::default());
            SetId::try_from(self.sets.len() - 1).unwrap_or(SetId::MAX)
        });
        self.sets[index(set)] = Arc::clone(object).into();
        let Self { sets, by_labels, by_pair, hasher, .. } = self;
        by_labels.insert_unique(hash, set, |set| hasher.hash_one(labels(sets, *set)));
        for (position, pair) in (0..).zip(object.labels().pairs()) {
            let is = |it: &SetsOfPair| it.pair(sets) == Some(pair);
            match by_pair.entry(hasher.hash_one(Some(pair)), is, |it| hasher.hash_one(it.pair(sets))) {
                Entry::Vacant(entry) => {
                    entry.insert(SetsOfPair::One { set, position });
                }
                Entry::Occupied(mut entry) => match entry.get_mut() {
                    SetsOfPair::Many(many) => {
                        let at = many.1.partition_point(|it| *it < set);
                        many.1.insert(at, set);
                    }
                    SetsOfPair::One { set: other, .. } => {
                        let both = vec![set.min(*other), set.max(*other)];
                        *entry.get_mut() = SetsOfPair::Many(Box::new((pair.clone(), both)));
                    }
                },
            }
        }
    }

    /// Removes an object that was added with these labels.
    pub(super) fn remove(&mut self, object: &T) {
        let Self { sets, free, by_labels, by_pair, hasher } = self;
        let hash = hasher.hash_one(Some(object.labels()));
        let Ok(entry) = by_labels.find_entry(hash, |set| labels(sets, *set) == Some(object.labels())) else { return };
        let set = *entry.get();
        if !matches!(sets[index(set)].as_slice(), [last] if last.name() == object.name()) {
            sets[index(set)].remove(object.name());
            return;
        }
        entry.remove();
        for pair in object.labels().pairs() {
            let is = |it: &SetsOfPair| it.pair(sets) == Some(pair);
            let Ok(mut entry) = by_pair.find_entry(hasher.hash_one(Some(pair)), is) else { continue };
            if let SetsOfPair::Many(many) = entry.get_mut()
                && many.1.len() > 1
            {
                if let Ok(at) = many.1.binary_search(&set) {
                    many.1.remove(at);
                }
                continue;
            }
            entry.remove();
        }
        // Last, since the pairs above are read from the object in this slot.
        sets[index(set)] = ByName::default();
        free.push(set);
    }

    /// Returns the objects that have every pair of the selector, sorted by name.
    pub(super) fn select(&self, selector: &Labels) -> Vec<Arc<T>> {
        let mut rarest: Option<&[SetId]> = None;
        for pair in selector.pairs() {
            let is = |it: &SetsOfPair| it.pair(&self.sets) == Some(pair);
            let Some(found) = self.by_pair.find(self.hasher.hash_one(Some(pair)), is) else { return Vec::new() };
            if rarest.is_none_or(|best| found.sets().len() < best.len()) {
                rarest = Some(found.sets());
            }
        }
        let mut objects = Vec::new();
        match rarest {
            None => self.sets.iter().for_each(|set| objects.extend_from_slice(set.as_slice())),
            Some(sets) => {
                for set in sets {
                    if labels(&self.sets, *set).is_some_and(|labels| labels.contains_all(selector)) {
                        objects.extend_from_slice(self.sets[index(*set)].as_slice());
                    }
                }
            }
        }
        // Each set is sorted already; the merge sort detects such runs.
        objects.sort_by(|a, b| a.name().cmp(b.name()));
        objects
    }
}
