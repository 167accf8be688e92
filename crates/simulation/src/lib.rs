//! Deterministic simulation of Kubernetes controllers: one thread, virtual time, every random number from a seed.
//!
//! A [`Simulation`] runs [processes](Process) against an API server ([`kube_dev_apiserver`]) in one thread, while a scripted
//! user changes objects and [faults](Fault) hit requests, events, processes and the server. [`Rules`] tell which states and
//! writes are right. The same seed gives the same [log](Log), byte for byte; [`shrink`] reduces a failure to the steps and
//! faults that it needs.
//!
//! A process is any future that talks to the API server through a tower service: [`Environment::transport`] goes into
//! `kube::Client::new` as well as into `kube_controller_client::Config::over`.
//!
//! # Example
//!
//! ```
//! use kube_simulation::endpoints::scenario;
//!
//! // A user's history, settings, processes and faults, all drawn from the seed.
//! let outcome = scenario::random(7).run();
//! assert!(outcome.violations.is_empty(), "{}", outcome.log.timeline());
//! assert_eq!(scenario::random(7).run(), outcome);
//! ```
//!
//! `examples/kube_rs.rs` has a kube-rs controller with rules of its own.
//!
//! # What makes a program repeatable
//!
//! A program under simulation reads no clock but those of tokio and `kube_ambient`, takes random numbers from `kube_ambient`,
//! has no threads and no I/O but the transport, and leaves no task behind when its future is dropped. In kube-rs,
//! `default_backoff` and the default `trigger_backoff` have jitter that is not drawn from the seed, and the `Controller` and
//! `Store::state` order several objects by hash maps with random seeds. Two runs whose [`Log::text`] differ reveal a program
//! that is not repeatable.
//!
//! The methods follow `FoundationDB`'s simulation, Sieve (Sun et al., OSDI 2022; [`sieve`]) and Acto (Gu et al., SOSP 2023).

mod chaos;
#[cfg(feature = "endpoints")]
pub mod endpoints;
mod fault;
mod frames;
mod log;
mod oracle;
mod point;
mod process;
mod request;
mod run;
mod script;
mod settle;
mod shrink;
pub mod sieve;
mod transport;
mod versions;
mod world;

pub use chaos::Chaos;
pub use fault::{Disturbance, Fault, Plan, Policy};
pub use log::{Entry, Happening, Log};
pub use oracle::{Rules, Write};
pub use point::{ParseError, Point, Verb};
pub use process::{Environment, Process, ProcessError};
pub use request::Target;
pub use run::{Limits, Outcome, Simulation};
pub use script::{Operation, Step};
pub use shrink::{Shrunk, reduced, shrink, shrink_faults};
pub use transport::{Transport, TransportBody};
pub use versions::Versions;
pub use world::Faults;
