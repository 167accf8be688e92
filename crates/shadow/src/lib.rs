//! Shadow mode of the endpoint controllers: compares their plans with what another program has written.
//!
//! ```text
//! controllers --plans--> review --> ledger <-- tasks: Lease of the writer, periodic comparisons
//!      ^                              |
//!      +------- sync again -----------+--> report, metrics, log
//! ```
//!
//! The controllers of `kube-endpoint`, `kube-endpointslice` and `kube-endpointslice-mirroring` run as usual, but with the
//! [client](Shadow::client) of a [`Shadow`], which sends no write. A plan that stays different from what exists, although the
//! writer runs and nothing has changed, is a mismatch. The [report](Shadow::report) says for how long there was none, and
//! so whether the controllers can take over from the writer.
//!
//! The ledger (`ledger.rs`) decides what is a mismatch: pure, with the time as an argument. The review gets the plans of the
//! controllers in place of the API server and passes them to it, `sources.rs` reads the caches, and `differences.rs`
//! describes a mismatch with the same functions as `kubectl endpoints diff`.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use kube_controller::Supervisor;
//! use kube_controller_client::Client;
//! use kube_endpoints_shadow::{Informers, Limits, Options, Shadow};
//! use tokio_util::sync::CancellationToken;
//!
//! /// Starts the comparison. Each controller is then built with `shadow.client(client, name)` instead of its client, and
//! /// passed to `shadow.follow(name, controller)` before it runs.
//! fn start(
//!     informers: &Informers,
//!     reader: &Client,
//!     supervisor: &mut Supervisor,
//!     stop: &CancellationToken,
//! ) -> prometheus::Result<Arc<Shadow>> {
//!     let options = Options {
//!         settle_period: Duration::from_secs(30),
//!         writer_lease: None,
//!         compare_period: Duration::from_secs(600),
//!         limits: Limits::default(),
//!     };
//!     let shadow = Shadow::new(informers, options)?;
//!     shadow.register(prometheus::default_registry())?;
//!     shadow.spawn(supervisor, reader, stop);
//!     Ok(shadow)
//! }
//! ```
//!
//! # When not to use it
//!
//! For other controllers: what a plan depends on is known for these three only.

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
