//! The controllers as one program: against API servers that behave and ones that do not.

mod cluster;
mod election;
mod failures;
mod oracle;
mod process;
mod reference;
mod rooms;
mod without_slices;
