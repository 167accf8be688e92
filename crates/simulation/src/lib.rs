//! Deterministic simulation of Kubernetes controllers: one thread, virtual time, every random number from a seed.
//!
//! It is for:
//!
//! - tests of controllers, written with kube-rs or the crates of this repository, under thousands of schedules;
//! - [fault injection](Fault): rejected, lost and delayed requests and events, crashes, server restarts, restores of
//!   the store, clock changes;
//! - checks of each write, of the final state and of the whole log, by the [`Rules`] of the application;
//! - replaying a failure from its seed: the same seed gives the same [log](Log), byte for byte, and [`shrink`] reduces
//!   the failure to few steps and faults;
//! - systematic tests with one fault at each [point](Point) of a run, that is, at each request and watch event
//!   ([`sieve`]).
//!
//! A [`Simulation`] runs [processes](Process) against an embedded API server ([`kube_dev_apiserver`]), while a scripted
//! user changes objects:
//!
//! ```text
//! Process --request--> Transport -----> API server <----- user: Step
//!         <--event----  latency,  <----- in process <----- Disturbance
//!                       Fault               |
//!                         |                 | writes, final state
//!                         v                 v
//!                        Log ------------> Rules -------> Outcome -------> shrink
//! ```
//!
//! A process is any future that sends requests through a tower service: [`Environment::transport`] is passed to
//! `kube::Client::new` or to `kube_controller_client::Config::from_service`.
//!
//! To simulate a controller, build a [`Simulation`] from its [`Process`], an implementation of [`Rules`], and the
//! [`Step`]s of the user; [`Simulation::run`] returns the [`Outcome`]. The book has a [complete
//! example](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/simulation.md#simulate-your-own-controller).
//! A run takes a few milliseconds of real time: about 300 runs of the endpoint controllers per second on two cores (AMD
//! EPYC, 2026-11-23). The call does not fail: errors and panics of a process are in the [`Log`], broken rules in
//! [`Outcome::violations`].
//!
//! # When not to use it
//!
//! - To measure throughput, latency or memory: time is virtual and there is one thread.
//! - For programs with threads or with I/O of their own: their runs are not repeatable.
//! - To find data races: tasks switch only at `await`.
//! - To prove that a controller works with a release of Kubernetes: the API server is an embedded one.
//!
//! # Example
//!
//! A run of the endpoint controllers, with the feature `endpoints`:
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
//! `examples/kube_rs.rs` contains a kube-rs controller with its own rules.
//!
//! # Features
//!
//! `cli`, the default, is the program `kube-simulation` and includes `endpoints`, the module for the endpoint
//! controllers. To simulate other controllers only, disable the default features; the program then selects a version
//! feature of `k8s-openapi`. With `endpoints`, it is `v1_36`.
//!
//! # Repeatable programs
//!
//! A program under simulation must
//!
//! - read only the clocks of tokio and `kube_ambient`;
//! - take random numbers from `kube_ambient`;
//! - have no threads, and no I/O other than the transport;
//! - leave no task behind when its future is dropped.
//!
//! In kube-rs, the jitter of `default_backoff` and of the default `trigger_backoff` is not drawn from the seed, and
//! `Controller` and `Store::state` return several objects in the order of hash maps with random seeds. If two runs
//! differ in [`Log::text`], the program is not repeatable.
//!
//! The methods follow the simulation of `FoundationDB`, Sieve (Sun et al., OSDI 2022; [`sieve`]) and Acto (Gu et al.,
//! SOSP 2023).

mod chaos;
#[cfg(feature = "endpoints")]
pub mod endpoints;
mod fault;
mod frames;
mod log;
mod oracle;
mod pending;
mod point;
mod process;
mod request;
mod run;
mod run_state;
mod script;
mod settle;
mod shrink;
pub mod sieve;
mod transport;
mod versions;

pub use chaos::Chaos;
pub use fault::{Disturbance, Fault, Plan, Policy};
pub use log::{Entry, EntryKind, Log};
pub use oracle::{Rules, Write};
pub use point::{ParseError, Point, Verb};
pub use process::{Environment, Process, ProcessError};
pub use request::Target;
pub use run::{Limits, Outcome, Simulation};
pub use run_state::Faults;
pub use script::{Operation, Step};
pub use shrink::{Shrunk, reduced, shrink, shrink_faults};
pub use transport::{Transport, TransportBody};
pub use versions::Versions;
