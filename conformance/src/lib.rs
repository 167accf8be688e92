//! Recordings of a real cluster, and what plays them against any API server.
//!
//! A [`Recording`] says what was done to a cluster and what it looked like whenever it had settled. A [`Player`] does the same
//! to another cluster, waits until that has settled too ([`Changes`]), writes what it then finds in the same
//! [canonical form](canonical()), and [compares](compare()). A [`Verdict`] weighs the outcomes against the list of what need
//! not work yet. What the files mean exactly is in the README of this crate; `tests/replay.rs` puts it all together.
//!
//! A [`Tally`] counts the writes of the controllers, and a [`History`] keeps every event of a watch: what the scenarios in
//! `tests/hostile` assert besides the final objects.

mod api;
mod binaries;
mod canonical;
mod compare;
mod difference;
mod history;
mod kind;
mod manifest;
mod operations;
mod options;
mod owners;
mod player;
mod process;
mod program;
mod recording;
mod settle;
mod snapshot;
mod verdict;
mod watch;
mod writes;

pub use api::{Api, List, ListMetadata, Request};
pub use binaries::ControlPlane;
pub use canonical::{Observed, canonical, text};
pub use compare::compare;
pub use history::History;
pub use kind::Kind;
pub use manifest::Manifest;
pub use options::{Controllers, Options, Target};
pub use owners::Owners;
pub use player::{Failure, Outcome, Player};
pub use program::Program;
pub use recording::{Operation, Recording, Scenario, Step, Subresource, Tag};
pub use settle::{Changes, QUIET};
pub use snapshot::Snapshot;
pub use verdict::Verdict;
pub use watch::Watches;
pub use writes::{CONTROLLERS, Tally, Write};
