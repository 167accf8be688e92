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
//! The methods follow `FoundationDB`'s simulation, Sieve (Sun et al., OSDI 2022; [`sieve`]) and Acto (Gu et al., SOSP 2023).

mod chaos;
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
mod shrink;
pub mod sieve;
mod transport;
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
pub use world::Faults;
