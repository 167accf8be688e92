//! Integration tests of the program, against the embedded API server with and without faults.

mod adaptive;
mod backup;
mod biased;
mod cluster;
mod crate_dependencies;
mod deploy;
mod documented_metrics;
mod election;
mod emulated_version;
mod failures;
mod guard;
mod history;
mod history_missing;
mod in_cluster;
mod logs;
mod metrics;
mod outage;
mod paused_time;
mod process;
mod program;
mod propagation;
mod rejected;
mod restored;
mod second_writer;
mod service_accounts;
mod serving;
#[cfg(feature = "shadow")]
mod shadow;
mod shutdown;
mod upstream_arguments;
mod without_slices;
