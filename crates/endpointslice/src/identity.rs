//! Identity of endpoints, and lookup of endpoints by identity.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use kube_endpoint_model::{Address, Endpoint};

use crate::desired_endpoint::DesiredEndpoint;

/// Identity of an endpoint across syncs (RC-14): its addresses in any order, its hostname, and the namespace and name
/// of its target. Borrowed, so that a comparison needs no copy.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) hostname: &'a str,
    pub(crate) addresses: &'a [Address],
}

impl<'a> Identity<'a> {
    pub(crate) fn of(endpoint: &'a Endpoint) -> Identity<'a> {
        let (namespace, name): (&str, &str) = match &endpoint.target_ref {
            Some(target) => (target.namespace(), target.name()),
            None => ("", ""),
        };
        let hostname = endpoint.hostname.as_deref().unwrap_or_default();
        Identity { namespace, name, hostname, addresses: &endpoint.addresses }
    }

    fn sorted_addresses(&self) -> Vec<&'a Address> {
        let mut addresses: Vec<_> = self.addresses.iter().collect();
        addresses.sort();
        addresses
    }

    fn same_addresses(&self, other: &Self) -> bool {
        match (self.addresses, other.addresses) {
            ([one], [other]) => one == other,
            (one, several) => one.len() == several.len() && self.sorted_addresses() == other.sorted_addresses(),
        }
    }

    /// Hashes the addresses and the last 8 bytes of the name. Addresses are usually distinct; Pods that share one, on
    /// the host network, differ at the end of their names. Hashes of several addresses are added, so that their order
    /// does not matter.
    fn hash(&self, hasher: &DefaultHashBuilder) -> u64 {
        let mut state = hasher.build_hasher();
        match self.addresses {
            [one] => one.hash(&mut state),
            several => several.iter().map(|it| hasher.hash_one(it)).fold(0, u64::wrapping_add).hash(&mut state),
        }
        if let Some(end) = self.name.as_bytes().last_chunk::<8>() {
            state.write_u64(u64::from_ne_bytes(*end));
        } else {
            state.write(self.name.as_bytes());
        }
        state.finish()
    }
}

/// Compares texts that are often both empty. Without the special case, zero bytes at dangling pointers are compared
/// with masked memory instructions, which take hundreds of cycles for that: most of the time of planning mirrored
/// slices.
fn compare(a: &str, b: &str) -> Ordering {
    if a.is_empty() && b.is_empty() { Ordering::Equal } else { a.cmp(b) }
}

/// Returns whether two texts are equal. As in [`compare`], empty texts are a special case; equal texts are mostly
/// interned, so pointers are compared first.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.is_empty() || std::ptr::eq(a, b) || a == b)
}

impl PartialEq for Identity<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.same_addresses(other)
            && same(self.name, other.name)
            && same(self.namespace, other.namespace)
            && same(self.hostname, other.hostname)
    }
}

impl Eq for Identity<'_> {}

impl Ord for Identity<'_> {
    /// Compares the addresses last: names usually differ, and several addresses must be sorted for it.
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.namespace, other.namespace)
            .then_with(|| compare(self.name, other.name))
            .then_with(|| compare(self.hostname, other.hostname))
            .then_with(|| match (self.addresses, other.addresses) {
                ([one], [other]) => one.cmp(other),
                _ => self.sorted_addresses().cmp(&other.sorted_addresses()),
            })
    }
}

impl PartialOrd for Identity<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

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
                Entry::Vacant(place) => drop(place.insert(at)),
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
