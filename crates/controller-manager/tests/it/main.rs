//! The controllers as one program: against API servers that behave and ones that do not.

mod biased;
mod cluster;
mod deploy;
mod election;
mod failures;
mod https;
mod in_cluster;
mod logs;
mod metrics;
mod oracle;
mod process;
mod propagation;
mod reference;
mod rejected;
mod repair;
mod rooms;
mod service_accounts;
mod serving;
mod shutdown;
mod simulated;
mod upstream_arguments;
mod without_slices;
