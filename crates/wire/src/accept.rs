//! The `Accept` header of requests.

use crate::{Decode, Encoding};

/// What a client accepts as a response: an encoding, with or without `metadata.managedFields`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Accept {
    /// Preferred encoding; JSON is always accepted as well. The response says which it has.
    pub encoding: Encoding,
    /// Asks the server to leave out `metadata.managedFields`, which can be more than half of an object.
    ///
    /// Servers that do not know [KEP-5958] ignore this, so that a response may contain the field all the same.
    ///
    /// [KEP-5958]: https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/5958-client-opt-out-managedfields
    pub without_managed_fields: bool,
}

impl Accept {
    /// Returns what to accept for objects of type `T`: the preferred encoding if it can decode that, and managed fields
    /// only if it reads them.
    pub const fn of<T: Decode>(preferred: Encoding) -> Self {
        let encoding = if T::PROTOBUF { preferred } else { Encoding::Json };
        Self { encoding, without_managed_fields: !T::READS_MANAGED_FIELDS }
    }

    /// Returns the value of the `Accept` header. As in client-go, a server falls back to JSON for types without protobuf,
    /// such as custom resources.
    ///
    /// ```
    /// use kube_wire::{Accept, Encoding};
    ///
    /// let accept = Accept::from(Encoding::Protobuf);
    /// assert_eq!(accept.header(), "application/vnd.kubernetes.protobuf,application/json");
    /// ```
    pub const fn header(self) -> &'static str {
        match (self.encoding, self.without_managed_fields) {
            (Encoding::Json, false) => "application/json",
            (Encoding::Json, true) => "application/json;drop=metadata.managedFields",
            (Encoding::Protobuf, false) => "application/vnd.kubernetes.protobuf,application/json",
            (Encoding::Protobuf, true) => {
                "application/vnd.kubernetes.protobuf;drop=metadata.managedFields,\
                 application/json;drop=metadata.managedFields"
            }
        }
    }
}

impl From<Encoding> for Accept {
    fn from(encoding: Encoding) -> Self {
        Self { encoding, without_managed_fields: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Thing;

    #[test]
    fn a_type_gets_what_it_reads() {
        let accept = Accept::of::<Thing>(Encoding::Protobuf);
        assert_eq!(accept, Accept { encoding: Encoding::Protobuf, without_managed_fields: false });
        let accept = Accept::of::<crate::Dynamic>(Encoding::Protobuf);
        assert_eq!(accept, Accept::default());
    }
}
