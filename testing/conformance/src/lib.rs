//! Conformance tests for controllers of EndpointSlices and Endpoints: recordings of a real Kubernetes cluster, and hostile
//! scenarios.
//!
//! It is for:
//!
//! - testing controllers of any project, as the program `slice-conformance` does: a [`Kit`] plays the scenarios that apply
//!   to a [`Profile`] of what the controllers claim, and returns a [`Report`];
//! - replaying recorded operations on a cluster, and [comparing](compare()) its state after each step;
//! - testing controllers in process, as a [program](CommandLine), or those of a cluster ([`Subject`]);
//! - tests on the embedded API server or on an existing cluster ([`Target`]);
//! - [counting](Tally) the writes of controllers, from the request log of the embedded server or from an audit log;
//! - checking states between two settled states, in the [history](History) of a watch.
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
//!     tls: true,
//!     limits: Limits::default(),
//!     audit_log: None,
//!     jobs: 4,
//! };
//! let plan = kit.plan(Recording::builtin()?, Hostile::all(), |_| true);
//! let report = Arc::new(kit).run(plan, None, |key, _| eprintln!("{key}")).await;
//! assert!(report.is_good(), "{report}");
//! # Ok(())
//! # }
//! ```
//!
//! One file on an existing cluster:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use kube_controller_client::Config;
//! use kube_endpoints_conformance::{Player, Recording, Report};
//!
//! # async fn play() -> anyhow::Result<()> {
//! let recording = Recording::read(Path::new("recordings/core.json"))?;
//! let config = Config::from_kubeconfig(Path::new("admin.conf")).await?;
//! let player = Player::connect(&config).await?;
//! player.create_nodes(&recording.nodes).await?;
//! player.wait_for_controllers().await?;
//! let mut report = Report::default();
//! report.add("core", player.play(&recording.scenarios).await);
//! player.clean_up(&recording.nodes).await?;
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
mod history;
mod hostile;
#[cfg(feature = "junit")]
mod junit;
mod kind;
mod kit;
mod limits;
mod manifest;
mod operations;
mod owners;
mod player;
mod process;
mod profile;
mod program;
mod recording;
mod report;
mod settle;
mod snapshot;
mod subject;
mod unnoticed;
mod watch;
mod writes;

pub use api::{Api, List, ListMetadata, Request};
pub use canonical::{Observed, canonical, text};
pub use cluster::{Access, Cluster, Target};
pub use command::{CommandLine, split};
pub use compare::compare;
pub use history::History;
pub use hostile::{HOSTILE, Hostile, World};
#[cfg(feature = "junit")]
pub use junit::junit;
pub use kind::Kind;
pub use kit::{Kit, Plan};
pub use limits::Limits;
pub use manifest::Manifest;
pub use owners::Owners;
pub use player::{Failure, Outcome, Player};
pub use profile::{
    Comparison, Field, MANAGED_BY_LABEL, Output, Profile, SERVICE_NAME_LABEL, Skip, SliceLabels, WriteBound,
};
pub use recording::{Operation, Recording, Scenario, Step, Subresource, Tag};
pub use report::{Entry, Report, Verdict};
pub use settle::{Changes, QUIET};
pub use snapshot::Snapshot;
pub use subject::{External, Mode, Running, Subject, alive, during};
pub use unnoticed::Unnoticed;
pub use watch::Watches;
pub use writes::{CONTROLLERS, Tally, Write, Writers};
