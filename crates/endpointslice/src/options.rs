//! How a controller keeps its slices.

use std::num::NonZeroUsize;

use kube_endpoint_model::Text;

/// How a controller keeps its slices. Starts as the slice controller's defaults; each method changes one point.
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
    /// The value of the label `endpointslice.kubernetes.io/managed-by`: which slices are this controller's.
    pub controller: Text,
    /// The most endpoints a slice is filled with; the API server accepts up to 1,000.
    pub max_endpoints_per_slice: NonZeroUsize,
    /// Whether an owner without endpoints has one empty slice for each address type (RC-25).
    pub placeholder: bool,
    /// Whether slices must refer to this very owner (RC-6): others are deleted and never recycled, since the garbage
    /// collector may be about to remove them. Where it is not enforced they are taken over (MI-15).
    pub enforce_ownership: bool,
    /// How endpoints share slices.
    pub packing: Packing,
}

/// How endpoints of the same address type and ports share slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// As the slice controller: slices are filled up to the maximum, endpoints stay where they are, and what others
    /// wrote on a slice survives.
    Incremental,
    /// As the mirroring controller: one slice, written anew as a whole whenever it changes, with exactly the carried
    /// annotations. Endpoints beyond the maximum are not written.
    Single,
}

/// The default of `--max-endpoints-per-slice` (K-3).
const MAX_ENDPOINTS_PER_SLICE: NonZeroUsize = NonZeroUsize::new(100).expect("not zero");

impl Options {
    /// The options of the slice controller, for a controller of this name: 100 endpoints a slice, a placeholder,
    /// ownership enforced, incremental packing.
    pub fn new(controller: impl Into<Text>) -> Options {
        Options {
            controller: controller.into(),
            max_endpoints_per_slice: MAX_ENDPOINTS_PER_SLICE,
            placeholder: true,
            enforce_ownership: true,
            packing: Packing::Incremental,
        }
    }

    /// Sets the most endpoints a slice is filled with.
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

    /// Sets whether slices must refer to this very owner.
    #[must_use]
    pub fn enforce_ownership(mut self, enforce: bool) -> Options {
        self.enforce_ownership = enforce;
        self
    }

    /// Sets how endpoints share slices.
    #[must_use]
    pub fn packing(mut self, packing: Packing) -> Options {
        self.packing = packing;
        self
    }
}
