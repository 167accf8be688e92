//! Checks of the fuzz targets: decoding any bytes must not panic, and must not depend on how the bytes arrive.
//!
//! They are for:
//!
//! - the readers of lists and watches of `kube-wire`, in JSON and protobuf;
//! - the decoders of the objects of `kube-endpoint-model`;
//! - different encodings of one object with the same meaning for Go's decoders ([`decoding::renderings()`]);
//! - a seed corpus from recorded bytes of a real API server ([`decoding::seeds`]);
//! - the readers of `kube-endpoints-history`: of history files ([`history`](mod@history)) and of audit logs ([`audit`](mod@audit));
//! - a short test of each of these crates on stable Rust, which includes the files of its targets as modules.
//!
//! ```text
//! testing/conformance/fixtures --> seeds --> corpus/ --> libFuzzer --> fuzz_targets/*.rs --> TARGETS
//!                            |                                                         ^
//!                            +------> tests `fuzz` of model and history ---------------+
//! ```
//!
//! # When not to use it
//!
//! - For client code other than decoding: requests, retries and caches are not fuzzed.
//! - For the semantics of decoded objects: only panics and differences between two ways of decoding are findings.

pub mod audit;
pub mod decoding;
pub mod history;
