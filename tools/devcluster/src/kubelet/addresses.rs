//! Allocation of Pod addresses.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Allocates an IPv4 and an IPv6 address per Pod, from a block of 253 pairs per Node. A Node whose block is exhausted
/// gets another one. Addresses are not reused.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// Current block of each Node, and the last host number allocated in it.
    blocks: BTreeMap<String, (u16, u8)>,
    last_block: u16,
}

/// Number of the last block. Blocks are the /24 networks of 10.112.0.0/12, which follows the range of Service
/// addresses.
const LAST_BLOCK: u16 = 0xfff;
/// First host number of a block; 1 is the Node's gateway.
const FIRST_HOST: u8 = 2;
const LAST_HOST: u8 = 254;

impl Addresses {
    /// Returns the next pair of addresses for a Pod on `node` that is not in `used`; `None` if all blocks are
    /// exhausted.
    pub(super) fn assign(&mut self, node: &str, used: &BTreeSet<IpAddr>) -> Option<[IpAddr; 2]> {
        loop {
            let (block, host) = match self.blocks.get(node) {
                Some(&(block, host)) if host < LAST_HOST => (block, host + 1),
                _ if self.last_block == LAST_BLOCK => return None,
                _ => {
                    self.last_block += 1;
                    (self.last_block, FIRST_HOST)
                }
            };
            self.blocks.insert(node.to_owned(), (block, host));
            let pair = pair(block, host);
            if !pair.iter().any(|address| used.contains(address)) {
                return Some(pair);
            }
        }
    }
}

fn pair(block: u16, host: u8) -> [IpAddr; 2] {
    let [high, low] = block.to_be_bytes();
    let v4 = Ipv4Addr::new(10, 112 + high, low, host);
    let v6 = Ipv6Addr::new(0xfd00, 0x10, 0x112, block, 0, 0, 0, host.into());
    [v4.into(), v6.into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pair: Option<[IpAddr; 2]>) -> String {
        pair.map_or_else(|| "none".to_owned(), |[v4, v6]| format!("{v4} {v6}"))
    }

    #[test]
    fn each_node_has_its_own_block() {
        let (mut addresses, none) = (Addresses::default(), BTreeSet::new());
        assert_eq!(text(addresses.assign("a", &none)), "10.112.1.2 fd00:10:112:1::2");
        assert_eq!(text(addresses.assign("b", &none)), "10.112.2.2 fd00:10:112:2::2");
        assert_eq!(text(addresses.assign("a", &none)), "10.112.1.3 fd00:10:112:1::3");
    }

    #[test]
    fn addresses_in_use_are_skipped() {
        let used = BTreeSet::from(["10.112.1.2".parse().unwrap(), "fd00:10:112:1::3".parse().unwrap()]);
        assert_eq!(text(Addresses::default().assign("a", &used)), "10.112.1.4 fd00:10:112:1::4");
    }

    #[test]
    fn addresses_are_unique_until_exhausted() {
        let (mut addresses, none) = (Addresses::default(), BTreeSet::new());
        let mut assigned = 0_u32;
        let mut last = None;
        while let Some(pair) = addresses.assign("a", &none) {
            // Strictly increasing, so no address is allocated twice.
            assert!(last < Some(pair), "{pair:?} after {last:?}");
            last = Some(pair);
            assigned += 1;
        }
        assert_eq!(assigned, 253 * u32::from(LAST_BLOCK));
    }
}
