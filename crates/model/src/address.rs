//! IP addresses as the controllers read and write them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Text, json};

/// An address of an endpoint: an IP address where its text is canonical, otherwise the text as it came.
///
/// The API server hands out what was written, so that text that is not canonical (an IPv6 address written long, an
/// octet with a leading zero, a host name in an `FQDN` slice) must be kept to be written back unchanged. Addresses
/// compare by their text, as upstream sorts them: `10.0.0.10` comes before `10.0.0.9`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Ip(IpAddr),
    Text(Text),
}

impl Hash for Repr {
    /// An IP address as the one number it is: addresses are hashed at every sync, and byte by byte that takes a while.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Repr::Ip(IpAddr::V4(ip)) => state.write_u32(ip.to_bits()),
            Repr::Ip(IpAddr::V6(ip)) => state.write_u128(ip.to_bits()),
            Repr::Text(text) => text.hash(state),
        }
    }
}

impl Address {
    /// Reads an address; text that is no canonical IP address is kept as it is.
    pub fn new(text: &str) -> Address {
        match text.parse::<IpAddr>() {
            // IPv4 has one form only that parses; octets with leading zeros do not.
            Ok(ip) if ip.is_ipv4() || ip.to_string() == text => Address(Repr::Ip(ip)),
            _ => Address(Repr::Text(Text::from(text))),
        }
    }

    /// The IP address in canonical form, read as sloppily as [`parse_sloppy`] does; `None` where the text is none.
    pub fn ip(&self) -> Option<IpAddr> {
        match &self.0 {
            Repr::Ip(ip) => Some(ip.to_canonical()),
            Repr::Text(text) => parse_sloppy(text),
        }
    }

    /// The family of the address; `None` where it is no IP address, canonical or sloppy.
    pub fn family(&self) -> Option<IpFamily> {
        self.ip().map(IpFamily::of)
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

/// The order of the texts of two addresses, without writing them: that of the first octets that differ, since a dot, as
/// the end of the text, comes before every digit.
fn cmp_as_text(a: Ipv4Addr, b: Ipv4Addr) -> Ordering {
    /// The digits of an octet, from the left.
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

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::from_str(deserializer)
    }
}

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpFamily {
    /// IPv4, IPv4-mapped IPv6 addresses included.
    V4,
    /// IPv6.
    V6,
}

impl IpFamily {
    /// The family of an address. As in Go, an IPv4-mapped IPv6 address is IPv4.
    pub fn of(ip: IpAddr) -> IpFamily {
        match ip.to_canonical() {
            IpAddr::V4(_) => IpFamily::V4,
            IpAddr::V6(_) => IpFamily::V6,
        }
    }

    /// The family that Kubernetes writes `IPv4` or `IPv6`; `None` for anything else.
    pub fn parse(text: &str) -> Option<IpFamily> {
        match text {
            "IPv4" => Some(IpFamily::V4),
            "IPv6" => Some(IpFamily::V6),
            _ => None,
        }
    }

    /// `IPv4` or `IPv6`.
    pub fn as_str(self) -> &'static str {
        match self {
            IpFamily::V4 => "IPv4",
            IpFamily::V6 => "IPv6",
        }
    }
}

/// Parses an IP address as leniently as upstream does (EC-41): decimal octets may have leading zeros, and an
/// IPv4-mapped IPv6 address comes out as the IPv4 address it holds. IPv6 zones are refused.
pub fn parse_sloppy(text: &str) -> Option<IpAddr> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Some(ip.to_canonical());
    }
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        // Go's limit as well: three significant digits, however many zeros come before them.
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
    fn text_survives(#[case] text: &str) {
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
        fn the_order_is_that_of_the_texts(a: std::net::IpAddr, b: std::net::IpAddr) {
            let order = Address::from(a).cmp(&Address::from(b));
            proptest::prop_assert_eq!(order, a.to_string().cmp(&b.to_string()));
        }

        #[test]
        fn of_neighbours_too(last: [u8; 2], one: u8, other: u8) {
            let ip = |third| Ipv4Addr::new(10, 1, third, last[usize::from(third % 2)]);
            let order = Address::from(IpAddr::V4(ip(one))).cmp(&Address::from(IpAddr::V4(ip(other))));
            proptest::prop_assert_eq!(order, ip(one).to_string().cmp(&ip(other).to_string()));
        }
    }
}
