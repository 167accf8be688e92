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

/// Parses `text`, and adds field errors unless it is an IP address without leading zeros and not an IPv4-mapped one, like
/// upstream's `IsValidIPForLegacyField` with the feature gate `StrictIPCIDRValidation`, which is on since Kubernetes 1.36.
pub(crate) fn check_strict_ip(field: &str, text: &str, errors: &mut FieldErrors) -> Option<IpAddr> {
    let Some(address) = parse(text) else {
        errors.invalid(field, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        return None;
    };
    match text.parse::<IpAddr>() {
        Err(_) => errors.invalid(field, text, "must not have leading 0s"),
        Ok(parsed) if parsed != address => errors.invalid(field, text, "must not be an IPv4-mapped IPv6 address"),
        Ok(_) => return Some(address),
    }
    None
}

/// Adds field errors unless `text` is an address of an Endpoints object.
pub(crate) fn check_endpoint_ip(field: &str, text: &str, errors: &mut FieldErrors) {
    let usable = check_strict_ip(field, text, errors).or_else(|| parse(text));
    if let Some(address) = usable {
        check_usable(field, text, address, errors);
    }
}

/// Adds field errors unless `text` is an address of a slice of this family. IPv6 addresses must be canonical.
pub(crate) fn check_slice_ip(list: &str, field: &str, text: &str, family: Family, errors: &mut FieldErrors) {
    let Some(address) = check_strict_ip(field, text, errors) else { return };
    if family == Family::V6 && address.to_string() != text {
        errors.invalid(field, text, format_args!("must be in canonical form (\"{address}\")"));
        return;
    }
    if Family::of(address) != family {
        errors.invalid(list, text, format_args!("must be an {} address", family.as_str()));
    }
    check_usable(field, text, address, errors);
}

/// Adds field errors if no endpoint may have `address`, like upstream's `ValidateEndpointIP`.
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
        // As in Go, whatever the flags of the multicast address.
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
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

    fn errors_of(check: impl FnOnce(&mut FieldErrors)) -> bool {
        let mut errors = FieldErrors::default();
        check(&mut errors);
        !errors.is_empty()
    }

    // upstream: ValidateEndpointIP, IsValidIPForLegacyField, IsValidIP
    #[rstest]
    #[case::unicast("10.0.0.1", true, true)]
    #[case::unspecified("0.0.0.0", false, false)]
    #[case::loopback("127.0.0.1", false, false)]
    #[case::link_local("169.254.9.9", false, false)]
    #[case::link_local_multicast("224.0.0.251", false, false)]
    #[case::multicast("224.0.1.1", true, true)]
    #[case::broadcast("255.255.255.255", true, true)]
    #[case::leading_zeros("010.0.0.1", false, false)]
    #[case::mapped("::ffff:10.0.0.1", false, false)]
    #[case::v6("fd00::1", true, true)]
    #[case::v6_not_canonical("fd00:0::1", true, false)]
    #[case::v6_upper_case("FD00::1", true, false)]
    #[case::v6_unspecified("::", false, false)]
    #[case::v6_loopback("::1", false, false)]
    #[case::v6_link_local("fe80::1", false, false)]
    #[case::v6_link_local_multicast("ff02::1", false, false)]
    #[case::v6_transient_link_local_multicast("ff12::1", false, false)]
    #[case::v6_site_local_multicast("ff05::2", true, true)]
    #[case::no_address("web", false, false)]
    fn addresses_of_endpoints(#[case] text: &str, #[case] in_endpoints: bool, #[case] in_slices: bool) {
        let rejected = errors_of(|errors| check_endpoint_ip("ip", text, errors));
        assert_eq!(!rejected, in_endpoints, "Endpoints");
        let family = if text.contains(':') { Family::V6 } else { Family::V4 };
        let rejected = errors_of(|errors| check_slice_ip("addresses", "addresses[0]", text, family, errors));
        assert_eq!(!rejected, in_slices, "slices");
        assert!(errors_of(|errors| check_slice_ip("addresses", "addresses[0]", text, family.other(), errors)));
    }
}
