//! The endpoint controllers of Kubernetes (endpoints, endpointslice and endpointslice-mirroring) in one process; the
//! library of the binary `controller-manager`.
//!
//! It is for:
//!
//! - running the three controllers in place of those of kube-controller-manager 1.36 ([`run`]), against an API server
//!   that serves `discovery.k8s.io/v1` (Kubernetes 1.21 or newer),
//! - accepting kube-controller-manager's command line; with `--allow-upstream-flags`, the flags of its other
//!   controllers too, each ignored with a warning ([`CommandLine`], [`FeatureGates`]),
//! - running several replicas, one of them active: leader election on a Lease, with caches synced on the standbys
//!   ([`LeaderElection`]),
//! - comparing its plans with what another writer writes, before it takes over: [shadow mode](Mode::Shadow),
//! - serving health checks, metrics and debug pages over HTTPS, with delegated authentication and authorization
//!   ([`ServingSettings`]),
//! - running the same controllers inside another process, such as a test or a simulation, without flags ([`Settings`]).
//!
//! ```text
//! arguments --CommandLine::parse--> Settings --+
//!                                              v
//! kubeconfig or Pod ----------> Config ----> run
//!                                             |
//!                        +--------------------+--------------------+
//!                        v                    v                    v
//!              informers, one for      leader election        HTTPS server:
//!              each resource,          (optional)             /healthz /livez /readyz
//!              shared                         |               /metrics /configz
//!                        |                    v               /flagz /statusz
//!                        +-----------> controllers
//! ```
//!
//! # When not to use it
//!
//! Do not run it next to a kube-controller-manager that still runs these controllers, except in [shadow
//! mode](Mode::Shadow): both would write the same objects. To embed one controller in a manager of your own, use `kube-endpoint`, `kube-endpointslice` or
//! `kube-endpointslice-mirroring`; to write another controller, `kube-controller` and `kube-informer`. It needs Unix:
//! signals and the modes of key files.
//!
//! # Example
//!
//! The binary passes the [`Settings`] of its [`CommandLine`] to [`run`]. Other programs call [`run`] directly. The
//! default settings have no leader election and no HTTPS server: run one instance only. [`RunError`] lists what ends a
//! run before it is stopped; an unreachable API server does not.
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
//!
//! # Features
//!
//! `endpoint`, `endpointslice` and `mirroring` select the controllers that are compiled in, at least one; all are
//! enabled by default. Flags of a controller that is left out are accepted and have no effect. `shadow`, enabled by
//! default, adds [shadow mode](Mode::Shadow); without it, [`run`] returns [`RunError::ShadowNotCompiledIn`].
//!
//! For installation, flags, alerts and troubleshooting see the
//! [book](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/SUMMARY.md). Ids such as `CM-4` name
//! rules of its [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).

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

pub use controllers::{ControllerSyncs, Controllers, UnknownController};
pub use emulation::EmulatedVersion;
pub use error::RunError;
pub use feature_gates::{FeatureGateError, FeatureGates, Gate, Stage};
pub use flags::{CommandLine, UsageError, flag_reference};
pub use kube_controller::Batching;
pub use kube_controller_serving::{
    AuthenticationSettings, AuthorizationSettings, CertificateError, CertificateFiles, ServerCertificate, ServingError,
    ServingSettings, TlsVersion,
};
pub use logging::{LogFormat, LoggingSettings, start_logging};
pub use manager::run;
pub use settings::{
    ClientSettings, LeaderElection, Mode, SecondWriterSettings, Settings, ShadowSettings, SyncSettings,
};
