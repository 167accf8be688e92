#![doc = include_str!("../README.md")]

#[cfg(not(any(feature = "endpoint", feature = "endpointslice", feature = "mirroring")))]
compile_error!("choose at least one controller: features `endpoint`, `endpointslice`, `mirroring`");

mod caches;
mod checks;
mod clients;
mod configz;
mod controllers;
mod credentials;
mod discovery;
mod emulation;
mod error;
mod feature_gates;
mod flags;
mod go_duration;
mod go_int;
mod held_lists;
mod history;
mod leader;
mod logging;
mod manager;
mod metrics;
mod pages;
mod request_deadline;
mod second_writer;
mod serve;
mod settings;
mod settled;
#[cfg(feature = "shadow")]
mod shadow;
#[cfg(not(feature = "shadow"))]
#[path = "no_shadow.rs"]
mod shadow;
mod user_agent;

pub use controllers::{ControllerSyncs, Controllers};
pub use emulation::EmulatedVersion;
pub use error::RunError;
pub use feature_gates::{FeatureGates, Gate, Stage};
pub use flags::{CommandLine, UsageError};
pub use kube_controller::{Batching, SyncOptions};
pub use kube_controller_serving::{
    AuthenticationSettings, AuthorizationSettings, CertificateError, CertificateFiles, ServerCertificate, ServingError,
    ServingSettings, TlsVersion,
};
pub use logging::{LogFormat, LoggingSettings, start_logging};
pub use manager::run;
pub use settings::{ClientSettings, HistorySettings, LeaderElection, Mode, Settings, ShadowSettings};
