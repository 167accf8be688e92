//! Options of a controller that owns slices.

use std::num::NonZeroUsize;

use kube_endpoint_model::Text;

/// Options of a controller that owns slices. [`Options::new`] returns the defaults; each method changes one of them.
///
/// ```
/// use std::num::NonZeroUsize;
/// use kube_endpointslice::Options;
///
/// let options = Options::new("gateways.example.com").max_endpoints_per_slice(NonZeroUsize::MIN).placeholder(false);
/// assert_eq!(&*options.controller, "gateways.example.com");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Value of the label `endpointslice.kubernetes.io/managed-by`. Slices with another value are never written.
    pub controller: Text,
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
    /// As the slice controller (RC-15 to RC-21): slices are filled up to the maximum, endpoints stay in their slice,
    /// and annotations that another client added to a slice are kept.
    Incremental,
    /// As the mirroring controller (MI-13 to MI-16): one slice, replaced as a whole if it differs, with exactly the
    /// annotations of the [`Input`](crate::Input). Endpoints beyond the maximum are not written.
    Single,
}

/// Default of `--max-endpoints-per-slice` (K-3).
const MAX_ENDPOINTS_PER_SLICE: NonZeroUsize = NonZeroUsize::new(100).expect("not zero");

impl Options {
    /// Returns the options of the slice controller for another managed-by value: 100 endpoints per slice, a
    /// placeholder, ownership enforced, incremental packing.
    pub fn new(controller: impl Into<Text>) -> Options {
        Options {
            controller: controller.into(),
            max_endpoints_per_slice: MAX_ENDPOINTS_PER_SLICE,
            placeholder: true,
            enforce_ownership: true,
            packing: Packing::Incremental,
        }
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
}
