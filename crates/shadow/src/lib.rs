#![doc = include_str!("../README.md")]

mod causes;
mod differences;
mod drains;
mod ledger;
mod log_limit;
mod metrics;
mod mismatches;
mod options;
mod report;
mod review;
mod shadow;
mod sources;
mod tasks;
mod writer;

/// Limits of the controllers, on which their plans depend.
pub use kube_endpoints_explain::Settings as Limits;
pub use options::{Informers, Options};
pub use report::Report;
pub use shadow::Shadow;
