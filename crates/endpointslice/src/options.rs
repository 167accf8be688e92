//! Options of a controller that owns slices.

use std::borrow::Cow;
use std::hash::Hasher as _;
use std::num::NonZeroUsize;

use fnv::FnvHasher;
use kube_endpoint_model::well_known::SERVICE_NAME_LABEL;
use kube_endpoint_model::{LONGEST_LABEL_VALUE, SliceIndex, Text, is_label_value};

/// Options of a controller that owns slices. [`Options::new`] and [`Options::for_services`] return the defaults; each
/// method changes one of them.
///
/// ```
/// use std::num::NonZeroUsize;
/// use kube_endpointslice::Options;
///
/// let options = Options::new("gateways.example.com").max_endpoints_per_slice(NonZeroUsize::MIN).placeholder(false);
/// assert_eq!(&*options.controller, "gateways.example.com");
/// assert_eq!(&*options.owner_label, "gateways.example.com/owner");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Value of the label `endpointslice.kubernetes.io/managed-by`. Slices with another value are never written.
    pub controller: Text,
    /// Key of the label by which the slices of an owner are found. Its value is the name of the owner, see
    /// [`label_value`](Self::label_value).
    ///
    /// kube-proxy and other consumers take a slice with the label `kubernetes.io/service-name` for one of that Service,
    /// whatever its owner is, so only slices that are meant for them should have that label.
    pub owner_label: Text,
    /// Maximum number of endpoints that a slice is filled with; 100 by default. The API server accepts up to 1,000.
    pub max_endpoints_per_slice: NonZeroUsize,
    /// Whether an owner without endpoints has one empty slice for each address type (RC-25); `true` by default.
    pub placeholder: bool,
    /// Whether existing slices must refer to the owner by UID (RC-6); `true` by default. If so, other slices are
    /// deleted and never reused, since the garbage collector may be about to delete them. If not, they are taken over
    /// (MI-15).
    pub enforce_ownership: bool,
    /// Distribution of endpoints over slices; incremental by default.
    pub packing: Packing,
}

/// Distribution of endpoints with the same address type and ports over slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// As the slice controller (RC-15, RC-16, RC-18 to RC-21): slices are filled up to the maximum, endpoints stay in
    /// their slice, and annotations that another client added to a slice are kept.
    Incremental,
    /// As the mirroring controller (MI-13 to MI-16): one slice, replaced as a whole if it differs, with exactly the
    /// annotations of the [`Input`](crate::Input). Endpoints beyond the maximum are not written.
    Single,
}

/// Default of `--max-endpoints-per-slice`.
const MAX_ENDPOINTS_PER_SLICE: NonZeroUsize = NonZeroUsize::new(100).expect("not zero");

impl Options {
    /// Returns the options of a controller of slices that belong to no Service: the owner label `{controller}/owner`,
    /// 100 endpoints per slice, a placeholder, ownership enforced, incremental packing.
    ///
    /// `controller` must be a DNS subdomain of at most 63 characters, such as `pools.example.com`, unless the
    /// [owner label](Self::owner_label) is set to another one: the API server refuses other labels.
    pub fn new(controller: impl Into<Text>) -> Options {
        let controller = controller.into();
        Options {
            owner_label: format!("{controller}/owner").into(),
            controller,
            max_endpoints_per_slice: MAX_ENDPOINTS_PER_SLICE,
            placeholder: true,
            enforce_ownership: true,
            packing: Packing::Incremental,
        }
    }

    /// Returns the options of a controller of slices of Services, like the slice controller of Kubernetes: those of
    /// [`new`](Self::new), with the owner label `kubernetes.io/service-name`.
    pub fn for_services(controller: impl Into<Text>) -> Options {
        Options::new(controller).owner_label(SERVICE_NAME_LABEL)
    }

    /// Sets the key of the label by which the slices of an owner are found.
    #[must_use]
    pub fn owner_label(mut self, key: impl Into<Text>) -> Options {
        self.owner_label = key.into();
        self
    }

    /// Sets the maximum number of endpoints that a slice is filled with.
    #[must_use]
    pub fn max_endpoints_per_slice(mut self, max: NonZeroUsize) -> Options {
        self.max_endpoints_per_slice = max;
        self
    }

    /// Sets whether an owner without endpoints has one empty slice for each address type.
    #[must_use]
    pub fn placeholder(mut self, placeholder: bool) -> Options {
        self.placeholder = placeholder;
        self
    }

    /// Sets whether existing slices must refer to the owner by UID.
    #[must_use]
    pub fn enforce_ownership(mut self, enforce: bool) -> Options {
        self.enforce_ownership = enforce;
        self
    }

    /// Sets the distribution of endpoints over slices.
    #[must_use]
    pub fn packing(mut self, packing: Packing) -> Options {
        self.packing = packing;
        self
    }

    /// Returns an index of slices by the [owner label](Self::owner_label).
    pub fn slice_index(&self) -> SliceIndex {
        SliceIndex::by(self.owner_label.clone())
    }

    /// Returns the value of the owner label for the slices of an owner: its name.
    ///
    /// A name that is no valid value, such as one of more than 63 characters, is abbreviated and ends with a hash of
    /// the name; not so in the label `kubernetes.io/service-name`, in which consumers expect a name.
    pub fn label_value<'a>(&self, owner: &'a str) -> Cow<'a, str> {
        if self.are_for_services() || is_label_value(owner) {
            return Cow::Borrowed(owner);
        }
        let alphanumeric = |letter: char| letter.is_ascii_alphanumeric();
        let valid = |letter: char| if alphanumeric(letter) || "-_.".contains(letter) { letter } else { '-' };
        let start: String = owner.chars().map(valid).take(LONGEST_LABEL_VALUE - 17).collect();
        let start = start.trim_matches(|letter| !alphanumeric(letter));
        // Must be the same in all versions of a controller.
        let mut hasher = FnvHasher::default();
        hasher.write(owner.as_bytes());
        let hash = hasher.finish();
        let dash = if start.is_empty() { "" } else { "-" };
        Cow::Owned(format!("{start}{dash}{hash:016x}"))
    }

    /// Returns whether the owner label is `kubernetes.io/service-name`.
    pub(crate) fn are_for_services(&self) -> bool {
        self.owner_label == SERVICE_NAME_LABEL
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("edge", "edge")]
    #[case::longest(&"a".repeat(63), &"a".repeat(63))]
    #[case::too_long(&"a".repeat(64), &format!("{}-{}", "a".repeat(46), "db007849f35ebbe5"))]
    #[case::cut_at_a_dot(&format!("{}.{}", "a".repeat(45), "b".repeat(20)), &format!("{}-{}", "a".repeat(45), "1f2e0a7c78432af2"))]
    #[case::colon("system:edge", "system-edge-16c5c94972d8cccb")]
    #[case::nothing_valid("-", "af63a04c86018698")]
    fn names_become_label_values(#[case] name: &str, #[case] expected: &str) {
        let value = Options::new("pools.example.com").label_value(name).into_owned();
        assert_eq!(value, expected);
        assert!(is_label_value(&value), "{value}");
        assert_eq!(Options::for_services("c").label_value(name), name, "as consumers expect it");
    }

    #[test]
    fn names_that_start_alike_have_different_values() {
        let options = Options::new("pools.example.com");
        let value = |end: &str| options.label_value(&format!("{}{end}", "a".repeat(80))).into_owned();
        assert_ne!(value("x"), value("y"));
    }
}
