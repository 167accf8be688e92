//! The cluster IPs and node ports that Services hold.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use rand::{Rng, RngExt as _};

use crate::address::Family;

/// What a real server hands out when `--service-node-port-range` is not given.
const NODE_PORTS: std::ops::RangeInclusive<i32> = 30_000..=32_767;

/// Which addresses and node ports are taken. Reading and picking change nothing: what a Service holds is recorded
/// with [`ServiceAddresses::replace`] when the Service is stored, so that a refused write needs no undoing.
#[derive(Debug, Clone)]
pub(crate) struct ServiceAddresses {
    v4: Ipv4Net,
    v6: Ipv6Net,
    /// Counted, because a node port may stand on a TCP and a UDP port of one Service.
    taken: BTreeMap<Held, u32>,
}

/// A thing that one Service has to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Held {
    Address(IpAddr),
    NodePort(i32),
}

impl ServiceAddresses {
    pub(crate) fn new(v4: Ipv4Net, v6: Ipv6Net) -> Self {
        Self { v4, v6, taken: BTreeMap::new() }
    }

    /// The range of a family, as text for messages.
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

    pub(crate) fn is_taken(&self, held: Held) -> bool {
        self.taken.contains_key(&held)
    }

    /// A free address of the family, or nothing when the range is used up.
    pub(crate) fn pick(&self, family: Family, rng: &mut impl Rng) -> Option<IpAddr> {
        let (base, bits) = match family {
            Family::V4 => (u128::from(self.v4.network().to_bits()), 32 - self.v4.prefix_len()),
            Family::V6 => (self.v6.network().to_bits(), 128 - self.v6.prefix_len()),
        };
        // As upstream, no range counts for more than 2^20 addresses: a /64 would never be searched to its end.
        let size = 1_u128 << u32::from(bits).min(20);
        let start = rng.random_range(0..size);
        let addresses = (0..size).map(|step| base + (start + step) % size).filter_map(|bits| match family {
            Family::V4 => u32::try_from(bits).ok().map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits))),
            Family::V6 => Some(IpAddr::V6(Ipv6Addr::from_bits(bits))),
        });
        addresses.into_iter().find(|address| self.contains(*address) && !self.is_taken(Held::Address(*address)))
    }

    /// A free node port.
    pub(crate) fn pick_node_port(&self, chosen: &[i32], rng: &mut impl Rng) -> Option<i32> {
        let size = NODE_PORTS.end() - NODE_PORTS.start() + 1;
        let start = rng.random_range(0..size);
        (0..size)
            .map(|step| NODE_PORTS.start() + (start + step) % size)
            .find(|port| !chosen.contains(port) && !self.is_taken(Held::NodePort(*port)))
    }

    pub(crate) fn is_node_port(port: i32) -> bool {
        NODE_PORTS.contains(&port)
    }

    /// Records that a stored Service gave up `old` and holds `new`.
    pub(crate) fn replace(&mut self, old: &[Held], new: &[Held]) {
        for held in new {
            *self.taken.entry(*held).or_default() += 1;
        }
        for held in old {
            if let Some(count) = self.taken.get_mut(held) {
                *count -= 1;
                if *count == 0 {
                    self.taken.remove(held);
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
    fn a_small_range_is_used_to_its_end_and_again_after_release() {
        let mut addresses = ServiceAddresses::new("10.0.0.0/30".parse().unwrap(), "fd00::/126".parse().unwrap());
        let mut rng = StdRng::seed_from_u64(1);
        for family in [Family::V4, Family::V6] {
            let mut held = Vec::new();
            while let Some(address) = addresses.pick(family, &mut rng) {
                assert!(addresses.contains(address));
                held.push(Held::Address(address));
                addresses.replace(&[], &held[held.len() - 1..]);
            }
            // Neither the network's own address nor, in IPv4, the broadcast address is handed out.
            assert_eq!(held.len(), if family == Family::V4 { 2 } else { 3 });
            addresses.replace(&held[..1], &[]);
            assert_eq!(addresses.pick(family, &mut rng).map(Held::Address), Some(held[0]));
        }
    }
}
