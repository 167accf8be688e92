//! Address list of a Pod or an endpoint.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Address;
use crate::json::{self, Str};

/// A list of addresses in wire order; dereferences to a slice of [`Address`]. A single address needs no allocation.
///
/// | from | with |
/// |---|---|
/// | a fixed number of addresses, usually one | `["10.0.0.1"].into()` |
/// | one [`Address`] | `address.into()` |
/// | any number, as text, [`IpAddr`](std::net::IpAddr) or [`Address`] | `collect()` |
/// | none | [`Addresses::default`] |
///
/// Order and duplicates are kept, and nothing is validated, since objects of other writers are stored and written back
/// unchanged. In a slice that is written, the API server requires from 1 to 100 addresses in an endpoint, all of the address
/// type of the slice, and consumers use only the first. An IP address as text should be in canonical form, which
/// [`Address::checked`] returns: two forms of the same address are different endpoints.
///
/// ```
/// use kube_endpoint_model::{Address, Addresses, IpFamily};
///
/// let one: Addresses = ["10.0.0.1"].into();
/// assert_eq!(one, Address::new("10.0.0.1").into());
/// let status = ["fd00::1", "10.0.0.1"].map(Address::new);
/// let v4: Addresses = status.into_iter().filter(|it| it.family() == Some(IpFamily::V4)).collect();
/// assert_eq!(v4, one);
/// let canonical: Addresses = Address::checked("fd00:0::1")?.into();
/// assert_eq!(canonical[0].to_string(), "fd00::1");
/// # Ok::<(), kube_endpoint_model::AddressError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses(Repr);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    One(Address),
    // Empty, or at least two.
    List(Box<[Address]>),
}

const _: () = assert!(size_of::<Addresses>() == 24);

impl Deref for Addresses {
    type Target = [Address];

    fn deref(&self) -> &[Address] {
        match &self.0 {
            Repr::One(address) => std::slice::from_ref(address),
            Repr::List(addresses) => addresses,
        }
    }
}

impl Addresses {
    pub(crate) fn push(&mut self, address: Address) {
        *self = match std::mem::take(self).0 {
            Repr::One(first) => Self(Repr::List(Box::new([first, address]))),
            Repr::List(addresses) if addresses.is_empty() => address.into(),
            Repr::List(addresses) => addresses.into_iter().chain([address]).collect(),
        };
    }

    /// Returns the addresses ordered by their text.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        if let Repr::List(addresses) = &mut self.0 {
            addresses.sort();
        }
        self
    }
}

impl Default for Addresses {
    fn default() -> Self {
        Self(Repr::List(Box::default()))
    }
}

impl<A: Into<Address>> FromIterator<A> for Addresses {
    fn from_iter<I: IntoIterator<Item = A>>(addresses: I) -> Self {
        let mut rest = addresses.into_iter().map(Into::into);
        let Some(first) = rest.next() else { return Self::default() };
        let Some(second) = rest.next() else { return first.into() };
        Self(Repr::List([first, second].into_iter().chain(rest).collect()))
    }
}

impl<A: Into<Address>, const N: usize> From<[A; N]> for Addresses {
    fn from(addresses: [A; N]) -> Self {
        addresses.into_iter().collect()
    }
}

impl From<Address> for Addresses {
    fn from(address: Address) -> Self {
        Self(Repr::One(address))
    }
}

impl<'a> IntoIterator for &'a Addresses {
    type Item = &'a Address;
    type IntoIter = std::slice::Iter<'a, Address>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Serialize for Addresses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Addresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut addresses = Addresses::default();
        json::each(deserializer, |text: Str<'_>| addresses.push(Address::new(&text.0)))?;
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("[]", &[])]
    #[case("null", &[])]
    #[case(r#"["10.0.0.1"]"#, &["10.0.0.1"])]
    #[case(r#"["fd00::1", "10.0.0.1", "fd00:0::1"]"#, &["fd00::1", "10.0.0.1", "fd00:0::1"])]
    fn keeps_order_and_text(#[case] json: &str, #[case] expected: &[&str]) {
        let addresses: Addresses = serde_json::from_str(json).unwrap();
        assert_eq!(addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
        assert_eq!(addresses, expected.iter().copied().collect());
    }
}
