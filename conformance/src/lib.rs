//! Recordings of a real Kubernetes cluster, and a player that compares other clusters with them.
//!
//! It is for:
//!
//! - replaying recorded operations on a cluster, and [comparing](compare()) its state after each step;
//! - testing the controllers in process, as a [program](Program), or those of a cluster ([`Controllers`]);
//! - tests on the embedded API server, on a [kube-apiserver](ControlPlane) started from binaries, or on an existing
//!   cluster ([`Target`]);
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
//!                +----> compare <-----+
//!                          |
//!                   Outcome, Verdict
//! ```
//!
//! The README of this crate describes the files and the [canonical form](canonical()) of a snapshot.
//!
//! # When not to use it
//!
//! - For behaviour between two settled states, such as the order of writes: only settled states are recorded.
//! - For rare schedules and faults: use `kube-simulation`.
//! - For other controllers: recordings contain only the objects that the endpoint controllers read and write.
//!
//! # Example
//!
//! `tests/replay.rs` plays all files, with the options of the environment. One file on an existing cluster:
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
mod binaries;
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
mod options;
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
mod watch;
mod writes;

pub use api::{Api, List, ListMetadata, Request};
pub use binaries::ControlPlane;
pub use canonical::{Observed, canonical, text};
pub use cluster::{Access, Cluster};
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
pub use options::{Controllers, Options, Target};
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
pub use watch::Watches;
pub use writes::{CONTROLLERS, Tally, Write, Writers};
