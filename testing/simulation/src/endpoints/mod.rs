//! Simulation of the three endpoint controllers: an oracle with an independent specification, and user histories.
//!
//! [`differences`] compares a settled cluster with a naive implementation of the specification (Kubernetes 1.36) that
//! shares no code with the controllers. [`random`], [`walk`] and [`Histories`] generate the steps of the user.
//!
//! The API server generates the names of slices. Paths in histories therefore contain the position of a slice, and
//! [`resolve_slice`] must convert each path right before the request is sent.

mod app;
mod content;
mod demanded;
mod excess;
mod exhaustive;
mod found;
mod histories;
mod marks;
mod mirrored;
mod object;
mod oracle;
mod recordings;
mod repeated;
mod requests;
mod rules;
pub mod scenario;
mod set;
mod slice_paths;
mod walked;
mod walks;
mod writes;

pub use app::{Options, controller_manager};
pub use content::Content;
pub use exhaustive::{Act, Histories, MAX_ENDPOINTS_PER_SLICE, setup, steps};
pub use histories::random;
pub use kube_endpoints_conformance::Unnoticed;
pub use oracle::differences;
pub use recordings::{Scenario as RecordedScenario, builtin as builtin_recordings, read as read_recordings};
pub use rules::{EndpointRules, content};
pub use slice_paths::resolve_slice;
pub use walks::{Walk, same_content, walk};
pub use writes::write_violation;
