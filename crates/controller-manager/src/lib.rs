//! The endpoint controllers of Kubernetes as one program: what the binary `controller-manager` is made of.
//!
//! The binary reads [`Flags`], turns them into [`Settings`], and calls [`run`]. Other programs call [`run`] themselves:
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

mod caches;
mod controllers;
mod feature_gates;
mod flags;
mod go_duration;
mod leader;
mod leader_election;
mod logging;
mod manager;
mod settings;
mod user_agent;

pub use controllers::{Controllers, UnknownController};
pub use feature_gates::FeatureGateError;
pub use flags::{Flags, UsageError};
pub use leader_election::LeaderElection;
pub use logging::start_logging;
pub use manager::{RunError, run};
pub use settings::Settings;
