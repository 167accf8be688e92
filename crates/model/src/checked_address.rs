//! Addresses of foreign origin, such as the status of a Pod or an annotation.

use std::net::IpAddr;

use crate::{Address, parse_sloppy};

/// Reason why no endpoint can have an address, returned by [`Address::checked`] and [`Address::usable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The text is not an IP address. IPv6 addresses with a zone and addresses with a prefix length are none.
    #[error("not an IP address")]
    NotAnIp,
    /// `0.0.0.0` or `::`.
    #[error("the unspecified address")]
    Unspecified,
    /// An address of `127.0.0.0/8`, or `::1`.
    #[error("a loopback address")]
    Loopback,
    /// An address of `169.254.0.0/16` or `fe80::/10`.
    #[error("a link-local address")]
    LinkLocal,
    /// An address of `224.0.0.0/24`, or a multicast address of IPv6 with link-local scope, such as `ff02::1`.
    #[error("a link-local multicast address")]
    LinkLocalMulticast,
}

impl Address {
    /// Parses an IP address of foreign origin, such as an annotation of a Pod, for an endpoint of a slice: in canonical
    /// form, and one that the API server accepts.
    ///
    /// The text is parsed as by [`parse_sloppy`], so that `FD00:0:0::1` becomes `fd00::1`, `010.0.0.1` becomes `10.0.0.1`,
    /// and `::ffff:192.168.1.9` becomes the IPv4 address `192.168.1.9`. The API server keeps what [`Address::new`] returns
    /// for such text, and two forms of one address are different endpoints.
    ///
    /// # Errors
    ///
    /// The address is one that the validation of `EndpointSlice`s of Kubernetes 1.36 (`ValidateEndpointIP`) rejects. It
    /// rejects the whole slice because of one address, in every sync: leave the address out, and report it.
    ///
    /// ```
    /// use kube_endpoint_model::{Address, AddressError};
    ///
    /// assert_eq!(Address::checked("FD00:0:0::1"), Ok(Address::new("fd00::1")));
    /// assert_eq!(Address::checked("127.0.0.1"), Err(AddressError::Loopback));
    /// ```
    pub fn checked(text: &str) -> Result<Address, AddressError> {
        checked(parse_sloppy(text)).map(Address::from)
    }

    /// Returns the address in the form in which an endpoint has it, as [`checked`](Self::checked) does for its text.
    ///
    /// # Errors
    ///
    /// Those of [`checked`](Self::checked).
    pub fn usable(&self) -> Result<Address, AddressError> {
        checked(self.ip()).map(Address::from)
    }
}

fn checked(ip: Option<IpAddr>) -> Result<IpAddr, AddressError> {
    let ip = ip.ok_or(AddressError::NotAnIp)?;
    let (link_local, link_local_multicast) = match ip {
        IpAddr::V4(v4) => (v4.is_link_local(), matches!(v4.octets(), [224, 0, 0, _])),
        // As in Go, whatever the flags of the multicast address.
        IpAddr::V6(v6) => (v6.is_unicast_link_local(), v6.segments()[0] & 0xff0f == 0xff02),
    };
    match ip {
        _ if ip.is_unspecified() => Err(AddressError::Unspecified),
        _ if ip.is_loopback() => Err(AddressError::Loopback),
        _ if link_local => Err(AddressError::LinkLocal),
        _ if link_local_multicast => Err(AddressError::LinkLocalMulticast),
        _ => Ok(ip),
    }
}

#[cfg(test)]
mod tests {
    use super::AddressError::{LinkLocal, LinkLocalMulticast, Loopback, NotAnIp, Unspecified};
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("192.168.1.9", "192.168.1.9")]
    #[case("010.0.0.1", "10.0.0.1")]
    #[case("fd00::1", "fd00::1")]
    #[case("FD00:0:0::1", "fd00::1")]
    #[case("fd00:0:0:0:0:0:0:1", "fd00::1")]
    #[case::mapped("::ffff:192.168.1.9", "192.168.1.9")]
    #[case::mapped_in_hexadecimal("::FFFF:c0a8:109", "192.168.1.9")]
    #[case::beside_loopback("128.0.0.1", "128.0.0.1")]
    #[case::beside_link_local("169.253.0.1", "169.253.0.1")]
    #[case::site_local("fec0::1", "fec0::1")]
    // The API server accepts multicast addresses of a wider scope.
    #[case::multicast("224.0.1.1", "224.0.1.1")]
    #[case::site_local_multicast("ff05::2", "ff05::2")]
    fn accepted(#[case] text: &str, #[case] canonical: &str) {
        let address = Address::checked(text).unwrap();
        assert_eq!((address.to_string().as_str(), &address), (canonical, &Address::new(canonical)));
        assert_eq!(Address::new(text).usable(), Ok(address));
    }

    #[rstest]
    #[case("", NotAnIp)]
    #[case("web.example.com", NotAnIp)]
    #[case("10.0.0.256", NotAnIp)]
    #[case::prefix_length("192.168.1.9/24", NotAnIp)]
    #[case::zone("fe80::1%eth0", NotAnIp)]
    #[case::space(" 10.0.0.1", NotAnIp)]
    #[case("0.0.0.0", Unspecified)]
    #[case("::", Unspecified)]
    #[case("127.0.0.1", Loopback)]
    #[case("127.255.0.1", Loopback)]
    #[case("::1", Loopback)]
    #[case::mapped("::ffff:127.0.0.1", Loopback)]
    #[case("169.254.1.1", LinkLocal)]
    #[case("fe80::1", LinkLocal)]
    #[case("febf::1", LinkLocal)]
    #[case("224.0.0.251", LinkLocalMulticast)]
    #[case("ff02::1", LinkLocalMulticast)]
    #[case::transient("ff12::1", LinkLocalMulticast)]
    fn rejected(#[case] text: &str, #[case] reason: AddressError) {
        assert_eq!(Address::checked(text), Err(reason));
        assert_eq!(Address::new(text).usable(), Err(reason));
    }
}
