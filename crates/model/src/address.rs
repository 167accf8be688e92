//! IP addresses of endpoints.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};

use serde::{Serialize, Serializer};

use crate::Text;

/// Address of an endpoint: an IP address if its text is canonical, otherwise the text.
///
/// The API server returns addresses as they were written. Text that is not canonical (an expanded IPv6 address, an
/// octet with leading zeros, a host name in an `FQDN` slice) is kept and written back unchanged. Addresses are ordered
/// by their text, as upstream sorts them: `10.0.0.10` comes before `10.0.0.9`.
///
/// Nothing is validated. For addresses of foreign origin that are to be written, such as those of an annotation,
/// [`Address::checked`] returns the canonical form, and an error for what the API server rejects.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Ip(IpAddr),
    Text(Text),
}

impl Hash for Repr {
    /// Hashes an IP address as one integer: addresses are hashed at every sync, and byte by byte is slower.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Repr::Ip(IpAddr::V4(ip)) => state.write_u32(ip.to_bits()),
            Repr::Ip(IpAddr::V6(ip)) => state.write_u128(ip.to_bits()),
            Repr::Text(text) => text.hash(state),
        }
    }
}

impl Address {
    /// Parses an address; text that is not a canonical IP address is kept as it is. See also [`checked`](Self::checked).
    pub fn new(text: &str) -> Address {
        match text.parse::<IpAddr>() {
            // IPv4 text that parses is canonical, since octets with leading zeros are rejected.
            Ok(ip) if ip.is_ipv4() || ip.to_string() == text => Address(Repr::Ip(ip)),
            _ => Address(Repr::Text(Text::from(text))),
        }
    }

    /// Returns the IP address in canonical form, parsed as by [`parse_sloppy`]; `None` if the text is not an IP
    /// address.
    pub fn ip(&self) -> Option<IpAddr> {
        match &self.0 {
            Repr::Ip(ip) => Some(ip.to_canonical()),
            Repr::Text(text) => parse_sloppy(text),
        }
    }

    /// Returns the family of the address; `None` if the text is not an IP address.
    pub fn family(&self) -> Option<IpFamily> {
        self.ip().map(IpFamily::of)
    }
}

impl Default for Address {
    /// Returns empty text.
    fn default() -> Self {
        Address(Repr::Text(Text::new()))
    }
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        Address::new(text)
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Address(Repr::Ip(ip))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Ip(ip) => ip.fmt(f),
            Repr::Text(text) => text.fmt(f),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for Address {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (a, b) if a == b => Ordering::Equal,
            (Repr::Ip(IpAddr::V4(a)), Repr::Ip(IpAddr::V4(b))) => cmp_as_text(*a, *b),
            _ => self.to_string().cmp(&other.to_string()),
        }
    }
}

/// Compares two addresses by their text without formatting it. The first octets that differ decide, because a dot and
/// the end of the text sort before every digit.
fn cmp_as_text(a: Ipv4Addr, b: Ipv4Addr) -> Ordering {
    /// Returns the decimal digits of an octet, left-aligned.
    fn digits(octet: u8) -> [u8; 3] {
        match octet {
            100.. => [b'0' + octet / 100, b'0' + octet / 10 % 10, b'0' + octet % 10],
            10.. => [b'0' + octet / 10, b'0' + octet % 10, 0],
            _ => [b'0' + octet, 0, 0],
        }
    }
    let differing = a.octets().into_iter().zip(b.octets()).find(|(a, b)| a != b);
    differing.map_or(Ordering::Equal, |(a, b)| digits(a).cmp(&digits(b)))
}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Ip(ip) => serializer.collect_str(ip),
            Repr::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// An IP address family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpFamily {
    /// IPv4, including IPv4-mapped IPv6 addresses.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl IpFamily {
    /// Returns the family of an address. As in Go, an IPv4-mapped IPv6 address is IPv4.
    pub fn of(ip: IpAddr) -> IpFamily {
        match ip.to_canonical() {
            IpAddr::V4(_) => IpFamily::V4,
            IpAddr::V6(_) => IpFamily::V6,
        }
    }

    /// Parses `IPv4` or `IPv6`; `None` for any other text.
    pub fn parse(text: &str) -> Option<IpFamily> {
        match text {
            "IPv4" => Some(IpFamily::V4),
            "IPv6" => Some(IpFamily::V6),
            _ => None,
        }
    }

    /// Returns `IPv4` or `IPv6`.
    pub fn as_str(self) -> &'static str {
        match self {
            IpFamily::V4 => "IPv4",
            IpFamily::V6 => "IPv6",
        }
    }
}

/// Parses an IP address as leniently as Go's `netutils.ParseIPSloppy` (EC-41): octets may have leading zeros and are
/// decimal; an IPv4-mapped IPv6 address becomes the IPv4 address. IPv6 addresses with a zone are rejected.
pub fn parse_sloppy(text: &str) -> Option<IpAddr> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Some(ip.to_canonical());
    }
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        // As in Go, an octet has at most three significant digits and any number of leading zeros.
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = part.trim_start_matches('0');
        *octet = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    }
    parts.next().is_none().then(|| IpAddr::V4(Ipv4Addr::from(octets)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("10.0.0.1", Some("10.0.0.1"))]
    #[case("010.000.0.09", Some("10.0.0.9"))]
    #[case("::ffff:10.0.0.1", Some("10.0.0.1"))]
    #[case("2001:0db8:0:0:0:0:0:1", Some("2001:db8::1"))]
    #[case("10.0.0", None)]
    #[case("10.0.0.1.2", None)]
    #[case("10.0.0.256", None)]
    #[case("10.0..1", None)]
    #[case("fe80::1%eth0", None)]
    #[case("<nil>", None)]
    #[case("", None)]
    fn sloppy(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(parse_sloppy(text).map(|ip| ip.to_string()).as_deref(), expected);
    }

    #[rstest]
    #[case("10.0.0.1")]
    #[case("2001:0db8::0001")]
    #[case("010.0.0.1")]
    #[case("host.example")]
    #[case("::ffff:10.0.0.1")]
    fn display_keeps_the_text(#[case] text: &str) {
        assert_eq!(Address::new(text).to_string(), text);
    }

    #[test]
    fn ordered_by_text() {
        let mut all = [Address::new("10.0.0.9"), Address::new("10.0.0.10"), Address::new("10.0.0.1")];
        all.sort();
        assert_eq!(format!("{all:?}"), "[10.0.0.1, 10.0.0.10, 10.0.0.9]");
    }

    proptest::proptest! {
        #[test]
        fn order_equals_text_order(a: std::net::IpAddr, b: std::net::IpAddr) {
            let order = Address::from(a).cmp(&Address::from(b));
            proptest::prop_assert_eq!(order, a.to_string().cmp(&b.to_string()));
        }

        #[test]
        fn order_of_similar_addresses(last: [u8; 2], one: u8, other: u8) {
            let ip = |third| Ipv4Addr::new(10, 1, third, last[usize::from(third % 2)]);
            let order = Address::from(IpAddr::V4(ip(one))).cmp(&Address::from(IpAddr::V4(ip(other))));
            proptest::prop_assert_eq!(order, ip(one).to_string().cmp(&ip(other).to_string()));
        }
    }
}
