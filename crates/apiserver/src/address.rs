//! Parsing and validation of IP addresses, with upstream's rules and messages.

use std::net::{IpAddr, Ipv4Addr};

use crate::field::FieldErrors;

/// IP family of a Service or an `EndpointSlice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    /// Returns the value in `spec.ipFamilies` and `addressType`: `IPv4` or `IPv6`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::V4, Self::V6].into_iter().find(|family| family.as_str() == text)
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::V4 => Self::V6,
            Self::V6 => Self::V4,
        }
    }
}

/// Parses an address like upstream's `ParseIPSloppy`: leading zeros in an IPv4 octet are accepted (`010.0.0.1` is
/// `10.0.0.1`), and an IPv4-mapped IPv6 address becomes IPv4.
pub(crate) fn parse(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let mut octets = [0_u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        if part.is_empty() || part.len() > 4 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *octet = part.parse().ok()?;
    }
    parts.next().is_none().then(|| IpAddr::V4(Ipv4Addr::from(octets)))
}

/// Parses `text`, and adds a field error if it is not an IP address.
pub(crate) fn check_ip(field: &str, text: &str, errors: &mut FieldErrors) -> Option<IpAddr> {
    let address = parse(text);
    if address.is_none() {
        errors.invalid(field, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
    address
}

/// Adds field errors unless `text` is an IP address that an endpoint may have, like upstream's `ValidateEndpointIP`.
pub(crate) fn check_endpoint_ip(field: &str, text: &str, errors: &mut FieldErrors) {
    let Some(address) = check_ip(field, text, errors) else { return };
    check_usable(field, text, address, errors);
}

/// Adds field errors if no endpoint may have `address`: unspecified, loopback, link-local and link-local multicast
/// addresses.
pub(crate) fn check_usable(field: &str, text: &str, address: IpAddr, errors: &mut FieldErrors) {
    if address.is_unspecified() {
        errors.invalid(field, text, format_args!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        errors.invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let link_local = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    if link_local {
        errors.invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    let link_local_multicast = match address {
        IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
        IpAddr::V6(v6) => v6.segments()[0] == 0xff02,
    };
    if link_local_multicast {
        errors.invalid(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("10.0.0.1", Some("10.0.0.1"))]
    #[case("010.0.0.01", Some("10.0.0.1"))]
    #[case("fd00:0:0:0:0:0:0:9", Some("fd00::9"))]
    #[case("::ffff:10.0.0.1", Some("10.0.0.1"))]
    #[case("10.0.0", None)]
    #[case("10.0.0.256", None)]
    #[case("", None)]
    #[case("fd00::%eth0", None)]
    fn addresses_parse_as_in_go(#[case] text: &str, #[case] expect: Option<&str>) {
        assert_eq!(parse(text).map(|ip| ip.to_string()).as_deref(), expect);
    }
}
