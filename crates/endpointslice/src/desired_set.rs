//! Lookup of desired endpoints by identity.

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use kube_endpoint_model::Endpoint;

use crate::desired_endpoint::DesiredEndpoint;
use crate::identity::Identity;

/// Desired endpoints of a group. Each can be taken once.
#[derive(Debug)]
pub(crate) struct DesiredSet<'a, E> {
    endpoints: &'a [E],
    hasher: DefaultHashBuilder,
    /// Positions in `endpoints`, by identity.
    by_identity: HashTable<u32>,
    taken: Vec<bool>,
}

impl<'a, E: DesiredEndpoint> DesiredSet<'a, E> {
    /// Creates the set. Of two endpoints with the same identity the later one counts.
    pub(crate) fn new(endpoints: &'a [E]) -> Self {
        let hasher = DefaultHashBuilder::default();
        let mut by_identity = HashTable::with_capacity(endpoints.len());
        // More than 2^32 endpoints do not fit into memory.
        for (at, endpoint) in (0u32..).zip(endpoints) {
            let identity = endpoint.identity();
            let same = |other: &u32| endpoints[*other as usize].identity() == identity;
            let rehash = |other: &u32| endpoints[*other as usize].identity().hash(&hasher);
            match by_identity.entry(identity.hash(&hasher), same, rehash) {
                Entry::Occupied(mut earlier) => *earlier.get_mut() = at,
                Entry::Vacant(place) => {
                    place.insert(at);
                }
            }
        }
        DesiredSet { endpoints, hasher, by_identity, taken: vec![false; endpoints.len()] }
    }

    /// Returns the number of endpoints; those with the same identity count once.
    pub(crate) fn len(&self) -> usize {
        self.by_identity.len()
    }

    /// Takes the desired endpoint with the identity of an existing one; `None` if there is none, or if it was taken
    /// before.
    pub(crate) fn take(&mut self, existing: &Endpoint) -> Option<&'a E> {
        self.take_same(Identity::of(existing))
    }

    /// Takes the desired endpoint with this identity; `None` if there is none, or if it was taken before.
    pub(crate) fn take_same(&mut self, identity: Identity<'_>) -> Option<&'a E> {
        let same = |at: &u32| self.endpoints[*at as usize].identity() == identity;
        let at = *self.by_identity.find(identity.hash(&self.hasher), same)? as usize;
        let taken = std::mem::replace(&mut self.taken[at], true);
        (!taken).then(|| &self.endpoints[at])
    }

    /// Returns the endpoints that were not taken, sorted by identity.
    pub(crate) fn into_rest(self) -> Vec<&'a E> {
        let left = self.by_identity.iter().map(|at| *at as usize).filter(|at| !self.taken[*at]);
        let mut rest: Vec<&E> = left.map(|at| &self.endpoints[at]).collect();
        rest.sort_by(|a, b| a.identity().cmp(&b.identity()));
        rest
    }
}
