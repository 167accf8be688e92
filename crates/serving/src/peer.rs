//! The client of a connection, as far as limits distinguish clients.

use std::net::{IpAddr, Ipv6Addr};

/// Address of a client: an IPv4 address, or an IPv6 network of 64 bits, of which one host may use every address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Peer(IpAddr);

impl From<IpAddr> for Peer {
    fn from(address: IpAddr) -> Self {
        Peer(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            address @ IpAddr::V4(_) => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::same_address("10.0.0.1", "10.0.0.1", true)]
    #[case::other_address("10.0.0.1", "10.0.0.2", false)]
    #[case::mapped_address("::ffff:10.0.0.1", "10.0.0.1", true)]
    #[case::mapped_addresses("::ffff:10.0.0.1", "::ffff:10.0.0.2", false)]
    #[case::same_network("2001:db8::1", "2001:db8::ffff:0:0:1", true)]
    #[case::other_network("2001:db8::1", "2001:db8:0:1::1", false)]
    fn addresses_of_one_host_are_one_peer(#[case] one: &str, #[case] other: &str, #[case] expect: bool) {
        let peer = |text: &str| Peer::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(peer(one) == peer(other), expect);
    }
}
