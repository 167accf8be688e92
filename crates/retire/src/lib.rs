#![doc = include_str!("../README.md")]

mod accounts;
pub mod apply;
mod backup;
mod duration;
mod evidence;
mod facts;
mod known;
mod parts;
mod plan;
mod rbac;
mod readers;
mod savings;
mod sightings;
#[cfg(test)]
mod testing;
mod text;
mod verdict;
mod whole;
mod writers;

pub use accounts::{Accounts, RunningProgram};
pub use backup::{Backup, BackupError};
pub use evidence::{Evidence, LogEvidence, Shortfall, Unread};
pub use facts::{Facts, FoundEndpoints};
pub use known::{Flag, KnownProgram, Reading, programs};
pub use parts::{KnownContainer, PodProgram, Written};
pub use plan::{API_VERSION, Cluster, Findings, LeftOver, LeftOverBecause, ObjectState, Plan, PlannedObject, Verdict};
pub use rbac::{Right, Rights, Who};
pub use readers::{Confidence, Reader, ReaderRequest};
pub use savings::{Savings, WriteRate, WritesFrom};
pub use text::text;
pub use whole::WholeEndpoints;
pub use writers::{Writer, WriterKind};
