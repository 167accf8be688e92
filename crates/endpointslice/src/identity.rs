//! What makes an endpoint the same one across syncs, and finding it again.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use kube_endpoint_model::{Address, Endpoint};

use crate::desired_endpoint::DesiredEndpoint;

/// What makes an endpoint the same one across syncs (RC-14): its addresses in any order, its host name, and the namespace
/// and name of the object behind it. Borrowed, so that comparing costs no copy.
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

    /// The address mostly decides; the end of the name, where names of objects differ, keeps apart what shares one. The sum
    /// makes the order of addresses not matter.
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

/// Compares texts that are often both empty. Without the special case that is a comparison of no bytes behind dangling
/// pointers, for which memory instructions with masks take hundreds of cycles: most of the time of planning mirrored slices.
fn compare(a: &str, b: &str) -> Ordering {
    if a.is_empty() && b.is_empty() { Ordering::Equal } else { a.cmp(b) }
}

/// As [`compare`], for texts that are mostly equal, and where they repeat mostly one and the same.
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
    /// In the order that decides soonest: objects behind endpoints mostly differ in name.
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

/// The desired endpoints of a group, each of which is taken at most once.
#[derive(Debug)]
pub(crate) struct DesiredSet<'a, E> {
    endpoints: &'a [E],
    hasher: DefaultHashBuilder,
    /// Positions in `endpoints`, by identity.
    by_identity: HashTable<u32>,
    taken: Vec<bool>,
}

impl<'a, E: DesiredEndpoint> DesiredSet<'a, E> {
    /// Of two endpoints with the same identity the later one counts.
    pub(crate) fn new(endpoints: &'a [E]) -> Self {
        let hasher = DefaultHashBuilder::default();
        let mut by_identity = HashTable::with_capacity(endpoints.len());
        // A slice of more than 2^32 endpoints does not fit in memory.
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

    /// How many endpoints there are.
    pub(crate) fn len(&self) -> usize {
        self.by_identity.len()
    }

    /// The desired version of an endpoint that is in a slice; `None` where it is not desired, or was taken already.
    pub(crate) fn take(&mut self, existing: &Endpoint) -> Option<&'a E> {
        self.take_same(Identity::of(existing))
    }

    /// The desired endpoint of an identity; `None` where there is none, or it was taken already.
    pub(crate) fn take_same(&mut self, identity: Identity<'_>) -> Option<&'a E> {
        let same = |at: &u32| self.endpoints[*at as usize].identity() == identity;
        let at = *self.by_identity.find(identity.hash(&self.hasher), same)? as usize;
        let taken = std::mem::replace(&mut self.taken[at], true);
        (!taken).then(|| &self.endpoints[at])
    }

    /// What was not taken, in the order of identities.
    pub(crate) fn into_rest(self) -> Vec<&'a E> {
        let left = self.by_identity.iter().map(|at| *at as usize).filter(|at| !self.taken[*at]);
        let mut rest: Vec<&E> = left.map(|at| &self.endpoints[at]).collect();
        rest.sort_by(|a, b| a.identity().cmp(&b.identity()));
        rest
    }
}
