//! Allocation of cluster IPs and node ports.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use rand::{Rng, RngExt as _};

use crate::address::Family;

/// Upstream's default of `--service-node-port-range`.
const NODE_PORTS: std::ops::RangeInclusive<i32> = 30_000..=32_767;

/// Upstream's limit of Service ranges. Larger ones are cut, because a /64 could not be searched.
const MAX_HOST_BITS: u32 = 20;

/// Cluster IPs and node ports in use by Services.
///
/// [`pick`](Self::pick) and [`pick_node_port`](Self::pick_node_port) reserve nothing: values are recorded with
/// [`replace`](Self::replace) when the Service is stored, so that a rejected write needs no rollback.
#[derive(Debug, Clone)]
pub(crate) struct ServiceAddresses {
    v4: Ipv4Net,
    v6: Ipv6Net,
    /// Number of uses: a Service can use one node port for a TCP and a UDP port.
    taken: BTreeMap<Allocation, u32>,
}

/// A value that only one Service can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Allocation {
    Address(IpAddr),
    NodePort(i32),
}

impl ServiceAddresses {
    pub(crate) fn new(v4: Ipv4Net, v6: Ipv6Net) -> Self {
        Self { v4, v6, taken: BTreeMap::new() }
    }

    /// Returns the range of a family, formatted for messages.
    pub(crate) fn range(&self, family: Family) -> String {
        match family {
            Family::V4 => self.v4.to_string(),
            Family::V6 => self.v6.to_string(),
        }
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => self.v4.contains(&v4) && v4 != self.v4.network() && v4 != self.v4.broadcast(),
            IpAddr::V6(v6) => self.v6.contains(&v6) && v6 != self.v6.network(),
        }
    }

    pub(crate) fn is_taken(&self, allocation: Allocation) -> bool {
        self.taken.contains_key(&allocation)
    }

    /// Returns a free address of a family; `None` if the range is exhausted.
    pub(crate) fn pick(&self, family: Family, rng: &mut impl Rng) -> Option<IpAddr> {
        let (base, bits) = match family {
            Family::V4 => (u128::from(self.v4.network().to_bits()), self.v4.max_prefix_len() - self.v4.prefix_len()),
            Family::V6 => (self.v6.network().to_bits(), self.v6.max_prefix_len() - self.v6.prefix_len()),
        };
        let size = 1_u128 << u32::from(bits).min(MAX_HOST_BITS);
        let start = rng.random_range(0..size);
        let addresses = (0..size).map(|step| base + (start + step) % size).filter_map(|bits| match family {
            Family::V4 => u32::try_from(bits).ok().map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits))),
            Family::V6 => Some(IpAddr::V6(Ipv6Addr::from_bits(bits))),
        });
        addresses.into_iter().find(|address| self.contains(*address) && !self.is_taken(Allocation::Address(*address)))
    }

    /// Returns a node port that is neither in use nor in `chosen`; `None` if all are in use.
    pub(crate) fn pick_node_port(&self, chosen: &[i32], rng: &mut impl Rng) -> Option<i32> {
        let size = NODE_PORTS.end() - NODE_PORTS.start() + 1;
        let start = rng.random_range(0..size);
        (0..size)
            .map(|step| NODE_PORTS.start() + (start + step) % size)
            .find(|port| !chosen.contains(port) && !self.is_taken(Allocation::NodePort(*port)))
    }

    pub(crate) fn is_node_port(port: i32) -> bool {
        NODE_PORTS.contains(&port)
    }

    /// Releases the values `old` and records the values `new` of a stored Service.
    pub(crate) fn replace(&mut self, old: &[Allocation], new: &[Allocation]) {
        for allocation in new {
            *self.taken.entry(*allocation).or_default() += 1;
        }
        for allocation in old {
            if let Some(count) = self.taken.get_mut(allocation) {
                *count -= 1;
                if *count == 0 {
                    self.taken.remove(allocation);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    #[test]
    fn small_range_is_exhausted_and_reused_after_release() {
        let mut addresses = ServiceAddresses::new("10.0.0.0/30".parse().unwrap(), "fd00::/126".parse().unwrap());
        let mut rng = StdRng::seed_from_u64(1);
        for family in [Family::V4, Family::V6] {
            let mut allocations = Vec::new();
            while let Some(address) = addresses.pick(family, &mut rng) {
                assert!(addresses.contains(address));
                allocations.push(Allocation::Address(address));
                addresses.replace(&[], &allocations[allocations.len() - 1..]);
            }
            // The network address and, for IPv4, the broadcast address are not allocated.
            assert_eq!(allocations.len(), if family == Family::V4 { 2 } else { 3 });
            addresses.replace(&allocations[..1], &[]);
            assert_eq!(addresses.pick(family, &mut rng).map(Allocation::Address), Some(allocations[0]));
        }
    }
}
