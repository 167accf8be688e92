//! Simulation of the three endpoint controllers: an oracle with an independent specification, and user histories.
//!
//! [`differences`] compares a settled cluster with a naive implementation of the specification (Kubernetes 1.36) that
//! shares no code with the controllers. [`random`] generates the steps of the user.
//!
//! The API server generates the names of slices. Paths in histories therefore contain the position of a slice, and
//! [`resolve_slice`] must convert each path right before the request is sent.

mod app;
mod content;
mod demanded;
mod excess;
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
mod writes;

pub use app::{Options, controller_manager};
pub use content::Content;
pub use histories::random;
pub use oracle::differences;
pub use recordings::{Scenario as RecordedScenario, builtin as builtin_recordings};
pub use rules::{EndpointRules, content};
pub use slice_paths::resolve_slice;
pub use writes::write_violation;
