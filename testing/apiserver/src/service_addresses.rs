//! Allocation of cluster IPs and node ports.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rand::{Rng, RngExt as _};

use crate::address::Family;

/// Upstream's default of `--service-node-port-range`.
const NODE_PORTS: std::ops::RangeInclusive<i32> = 30_000..=32_767;

/// Cluster IPs and node ports in use by Services.
///
/// [`pick`](Self::pick) and [`pick_node_port`](Self::pick_node_port) reserve nothing: values are recorded with
/// [`replace`](Self::replace) when the Service is stored, so that a rejected write needs no rollback.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServiceAddresses {
    /// Number of uses: a Service can use one node port for a TCP and a UDP port.
    taken: BTreeMap<Allocation, u32>,
}

/// A value that only one Service can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Allocation {
    Address(IpAddr),
    NodePort(i32),
}

struct ClusterIps {
    text: &'static str,
    first: u128,
    size: u128,
}

fn cluster_ips(family: Family) -> ClusterIps {
    match family {
        Family::V4 => {
            let first = Ipv4Addr::new(10, 96, 0, 0).to_bits();
            ClusterIps { text: "10.96.0.0/16", first: first.into(), size: 1 << 16 }
        }
        Family::V6 => {
            let first = Ipv6Addr::new(0xfd00, 0x10, 0x96, 0, 0, 0, 0, 0).to_bits();
            ClusterIps { text: "fd00:10:96::/108", first, size: 1 << 20 }
        }
    }
}

impl ServiceAddresses {
    /// Returns the range of a family, formatted for messages.
    pub(crate) fn range(family: Family) -> &'static str {
        cluster_ips(family).text
    }

    /// Returns `true` for an address in the range of its family, except for the first one and the IPv4 broadcast address.
    pub(crate) fn contains(address: IpAddr) -> bool {
        let ClusterIps { first, size, .. } = cluster_ips(Family::of(address));
        let (bits, end) = match address {
            IpAddr::V4(v4) => (v4.to_bits().into(), first + size - 1),
            IpAddr::V6(v6) => (v6.to_bits(), first + size),
        };
        (first + 1..end).contains(&bits)
    }

    pub(crate) fn is_taken(&self, allocation: Allocation) -> bool {
        self.taken.contains_key(&allocation)
    }

    /// Returns a free address of a family; `None` if the range is exhausted.
    pub(crate) fn pick(&self, family: Family, rng: &mut impl Rng) -> Option<IpAddr> {
        let ClusterIps { first, size, .. } = cluster_ips(family);
        let start = rng.random_range(0..size);
        let addresses = (0..size).map(|step| first + (start + step) % size).filter_map(|bits| match family {
            Family::V4 => u32::try_from(bits).ok().map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits))),
            Family::V6 => Some(IpAddr::V6(Ipv6Addr::from_bits(bits))),
        });
        addresses.into_iter().find(|address| Self::contains(*address) && !self.is_taken(Allocation::Address(*address)))
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
    fn range_is_exhausted_and_reused_after_release() {
        let all: Vec<Allocation> = (1..0xffff_u32)
            .map(|at| Allocation::Address(Ipv4Addr::from_bits(Ipv4Addr::new(10, 96, 0, 0).to_bits() + at).into()))
            .collect();
        let (mut addresses, mut rng) = (ServiceAddresses::default(), StdRng::seed_from_u64(1));
        addresses.replace(&[], &all);
        assert_eq!(addresses.pick(Family::V4, &mut rng), None);
        addresses.replace(&all[7..8], &[]);
        assert_eq!(addresses.pick(Family::V4, &mut rng).map(Allocation::Address), Some(all[7]));
        assert!(addresses.pick(Family::V6, &mut rng).is_some_and(ServiceAddresses::contains));
    }
}
