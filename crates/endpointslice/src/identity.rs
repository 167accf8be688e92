//! Identity of endpoints.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::DefaultHashBuilder;
use kube_endpoint_model::{Address, Endpoint};

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
    pub(crate) fn hash(&self, hasher: &DefaultHashBuilder) -> u64 {
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
