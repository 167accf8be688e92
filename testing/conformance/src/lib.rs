//! Conformance tests for controllers of EndpointSlices and Endpoints: recordings of a real Kubernetes cluster, and hostile
//! scenarios.
//!
//! It is for:
//!
//! - testing controllers of any project, as the program `slice-conformance` does: a [`Kit`] plays the scenarios that apply
//!   to a [`Profile`] of what the controllers claim, and returns a [`Report`];
//! - replaying recorded operations on a cluster, and [comparing](compare()) its state after each step;
//! - testing controllers in process, as a [program](CommandLine), or those of a cluster ([`Subject`]);
//! - tests on the embedded API server or on an existing cluster ([`Target`]).
//!
//! ```text
//! recordings/*.json -> Recording -> Player --operations--> API server <--- controllers
//!                                     |                        |
//!                          Changes: settled? <----watches------+
//!                                     |                        |
//!        expected Snapshot      actual Snapshot <----lists-----+
//!                |                    |
//!                +----> compare <-----+  <--- Profile: what is claimed, and how strictly it is compared
//!                          |
//!                    Outcome, Report
//! ```
//!
//! The README of this crate describes the files and the [canonical form](canonical()) of a snapshot.
//!
//! # When not to use it
//!
//! - For behaviour between two settled states, such as the order of writes: only settled states are recorded.
//! - For rare schedules and faults: use `kube-simulation`.
//! - For controllers whose slices do not follow from Services, Pods, Nodes and Endpoints: recordings contain nothing else.
//!
//! # Example
//!
//! All that applies to a controller with slices of its own, on embedded servers:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use kube_endpoints_conformance::{Access, CommandLine, Hostile, Kit, Limits, Profile, Recording, Target};
//!
//! # async fn test() -> anyhow::Result<()> {
//! let kit = Kit {
//!     profile: Arc::new(Profile::find("pools.yaml")?),
//!     subject: Arc::new(CommandLine::parse("pools-controller --kubeconfig={kubeconfig}")?),
//!     external: false,
//!     target: Target::Embedded,
//!     access: Access::all(),
//!     limits: Limits::default(),
//!     jobs: 4,
//! };
//! let plan = kit.plan(Recording::builtin()?, Hostile::all(), |_| true);
//! let report = Arc::new(kit).run(plan, None, |key, _| eprintln!("{key}")).await;
//! assert!(report.is_good(), "{report}");
//! # Ok(())
//! # }
//! ```

mod api;
mod canonical;
mod cluster;
mod command;
mod compare;
mod difference;
mod hostile;
mod kind;
mod kit;
mod limits;
mod manifest;
mod objects;
mod operations;
mod owners;
mod player;
mod profile;
mod program;
mod recording;
mod report;
mod settle;
mod snapshot;
mod state;
mod subject;
mod unnoticed;
mod watch;

pub use api::{Api, Request};
pub use canonical::{canonical, text};
pub use cluster::{Access, Cluster, Target};
pub use command::{CommandLine, split};
pub use compare::compare;
pub use hostile::{Hostile, World};
pub use kind::Kind;
pub use kit::{Kit, Plan};
pub use limits::Limits;
pub use manifest::Manifest;
pub use owners::Owners;
pub use player::Player;
pub use profile::{
    Comparison, Field, MANAGED_BY_LABEL, Output, Profile, SERVICE_NAME_LABEL, Skip, SliceLabels, WriteBound,
};
pub use recording::{Operation, Recording, Scenario, Step, Subresource, Tag};
pub use report::{Entry, Failure, Report, Verdict};
pub use settle::{Changes, QUIET};
pub use snapshot::Snapshot;
pub use state::State;
pub use subject::{Connection, External, Mode, Running, Subject, alive, during};
pub use unnoticed::Unnoticed;
