//! The endpoint controllers of Kubernetes as one program: what the binary `controller-manager` is made of.
//!
//! The binary reads a [`CommandLine`], and with its [`Settings`] calls [`run`]. Other programs call [`run`] themselves:
//!
//! ```no_run
//! use endpoint_controller_manager::{Settings, run};
//! use kube_controller_client::Config;
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::from_kubeconfig("admin.conf".as_ref()).await?;
//! run(config, Settings::default(), CancellationToken::new()).await?;
//! # Ok(())
//! # }
//! ```

#[cfg(not(any(feature = "endpoint", feature = "endpointslice", feature = "mirroring")))]
compile_error!("choose at least one controller: features `endpoint`, `endpointslice`, `mirroring`");

mod caches;
mod checks;
mod configz;
mod controllers;
mod credentials;
mod discovery;
mod feature_gates;
mod flags;
mod go_duration;
mod go_int;
mod leader;
mod logging;
mod manager;
mod metrics;
mod serve;
mod serving;
mod settings;
mod user_agent;

pub use controllers::{Controllers, UnknownController};
pub use feature_gates::{FeatureGateError, FeatureGates, Gate, Stage};
pub use flags::{CommandLine, UsageError, flag_reference};
pub use logging::{LogFormat, LoggingSettings, start_logging};
pub use manager::{RunError, run};
pub use serving::{CertificateError, ServingError};
pub use settings::{
    AuthenticationSettings, AuthorizationSettings, CertificateFiles, ClientSettings, LeaderElection, ServingSettings,
    Settings, TlsVersion,
};
