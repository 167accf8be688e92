//! Allocation of Pod addresses.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Allocates an IPv4 and an IPv6 address per Pod. Addresses are not reused.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// Number of the last pair.
    last: u32,
}

/// First address of the range 10.112.0.0/12, which follows that of Service addresses.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 112, 0, 0);
/// Number of pairs in the range.
const COUNT: u32 = 1 << 20;

impl Addresses {
    /// Returns the next pair of addresses that is not in `used`; `None` if all are exhausted.
    pub(super) fn assign(&mut self, used: &BTreeSet<IpAddr>) -> Option<[IpAddr; 2]> {
        let mut pairs = (self.last + 1..COUNT).map(|number| (number, pair(number)));
        let (last, pair) = pairs.find(|(_, pair)| !pair.iter().any(|address| used.contains(address)))?;
        self.last = last;
        Some(pair)
    }
}

fn pair(number: u32) -> [IpAddr; 2] {
    let v4 = Ipv4Addr::from_bits(FIRST.to_bits() + number);
    let [high, low] = [number >> 16, number & 0xffff].map(|it| u16::try_from(it).unwrap_or_default());
    let v6 = Ipv6Addr::new(0xfd00, 0x10, 0x112, 0, 0, 0, high, low);
    [v4.into(), v6.into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_unique_and_not_in_use() {
        let used = BTreeSet::from(["10.112.0.2".parse().unwrap(), "fd00:10:112::3".parse().unwrap()]);
        let mut addresses = Addresses::default();
        let mut next = || addresses.assign(&used).map(|[v4, v6]| format!("{v4} {v6}"));
        assert_eq!(next().as_deref(), Some("10.112.0.1 fd00:10:112::1"));
        assert_eq!(next().as_deref(), Some("10.112.0.4 fd00:10:112::4"));
        addresses.last = COUNT - 1;
        assert_eq!(addresses.assign(&used), None);
    }
}
