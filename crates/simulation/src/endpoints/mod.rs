//! The three endpoint controllers: an independent specification of what they make, and histories to try them with.
//!
//! [`differences`] compares a settled cluster with a naive specification (Kubernetes 1.36) that shares no code with the
//! controllers. [`random`], [`walk`] and [`Histories`] are what the user does meanwhile.
//!
//! Histories do not know the names that the API server gives to slices: their paths name a slice by its place, and
//! [`resolve_slice`] must turn each path into that of an object right before the request is sent.

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
mod unnoticed;
mod walked;
mod walks;
mod writes;

pub use app::{Options, controller_manager};
pub use content::Content;
pub use exhaustive::{Act, Histories, MAX_ENDPOINTS_PER_SLICE, setup, steps};
pub use histories::random;
pub use oracle::differences;
pub use recordings::{Scenario as RecordedScenario, read as read_recordings};
pub use rules::{EndpointRules, content};
pub use slice_paths::resolve_slice;
pub use unnoticed::Unnoticed;
pub use walks::{Walk, same_content, walk};
pub use writes::write_violation;
