//! The EndpointSlice mirroring controller of kube-controller-manager: writes EndpointSlices for Endpoints that a user
//! or another program wrote for a Service without a selector, as Kubernetes 1.36 does.
//!
//! What it is for:
//!
//! - **The controller**: [`mirroring_controller`] implements upstream's `endpointslice-mirroring-controller`, so that
//!   clients that read only EndpointSlices see custom Endpoints.
//! - **The desired endpoints alone**: [`desired`] computes the endpoints of the slices, deduplicated, with at most
//!   `max` addresses per subset, by address type and ports. No I/O.
//! - **The plan alone**: [`plan`] computes the slices to create, update and delete, with the generic reconciler of
//!   [`kube_endpointslice`]. No I/O.
//! - **Selection**: [`not_mirrored`] returns why an Endpoints object is not mirrored: its label
//!   `endpointslice.kubernetes.io/skip-mirror` is `true`, it is a lock of leader election, or its Service has a selector or
//!   does not exist.
//! - **Metrics**: [`MirroringMetrics`]; upstream's names with the feature `prometheus`.
//!
//! ```text
//! Service, Endpoints and slice events --> queue of Services --> sync of one Service
//!                                                                 |
//! caches of Services, Endpoints, slices ---------read-----------> desired --> Reconciler --> API server
//!                                  ^                                              |
//!                                  +----------- responses to the writes ----------+
//! ```
//!
//! Ids such as `MI-6` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md): the behaviour of
//! Kubernetes 1.36, and each deliberate difference.
//!
//! # Use
//!
//! To run the controller in a program of your own:
//!
//! 1. Build the informers: of Services with a `ServiceIndex`, of Endpoints without an index, and of EndpointSlices with
//!    a `SliceIndex`.
//! 2. Pass them to [`mirroring_controller`], with a client and an `EventRecorder` of `kube-controller-client`.
//! 3. Run the informers, the `EventWriter` and `Controller::run`, for example as tasks of a
//!    `kube_controller::Supervisor`. Workers start once all caches are synced.
//!    With leader election, also pass the `Informer::catch_up` futures of all informers, joined into one, to
//!    `Controller::wait_for`: the caches of a standby may lack the last writes of the previous leader.
//! 4. Enable a version feature of `k8s-openapi`, such as `v1_36`; the libraries select none. For `desired` or `plan`
//!    alone, this step is enough.
//!
//! The program `controller-manager` does this in [`caches.rs`] and [`manager.rs`]; [`cluster-role.yaml`] lists the
//! permissions of all three controllers. With several replicas, gate the client with the `Fence` of
//! `kube-lease-election`.
//!
//! A sync with a failed write is retried 15 times, after 1 s doubling to at most 100 s, and then every 100 s. Skipped
//! addresses are reported in a Warning event.
//!
//! [`caches.rs`]: https://github.com/kube-endpoints/kube-endpoints/blob/main/crates/controller-manager/src/caches.rs
//! [`manager.rs`]: https://github.com/kube-endpoints/kube-endpoints/blob/main/crates/controller-manager/src/manager.rs
//! [`cluster-role.yaml`]: https://github.com/kube-endpoints/kube-endpoints/blob/main/deploy/kustomize/base/cluster-role.yaml
//!
//! # When not to use it
//!
//! - For Services with a selector: their slices are written by `kube-endpointslice`.
//! - In new programs that publish endpoints: write EndpointSlices directly, with `kube-endpointslice`.
//! - Together with upstream's mirroring controller: both write the same slices and conflict.
//!
//! # Example
//!
//! ```
//! use std::num::NonZeroUsize;
//! use kube_endpoint_model::Endpoints;
//! use kube_endpointslice_mirroring::desired;
//!
//! let endpoints: Endpoints = serde_json::from_str(
//!     r#"{"metadata": {"namespace": "shop", "name": "database"},
//!         "subsets": [{"addresses": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}, {"ip": "not an address"}],
//!                      "ports": [{"name": "sql", "port": 5432, "protocol": "TCP"}]}]}"#,
//! )?;
//! let mirrored = desired(&endpoints, NonZeroUsize::new(1_000).expect("not zero"));
//! let sizes: Vec<_> = mirrored.groups.iter().map(|it| (it.address_type.as_str(), it.endpoints.len())).collect();
//! assert_eq!(sizes, [("IPv4", 1), ("IPv6", 1)]);
//! assert_eq!((mirrored.skipped, mirrored.invalid), (1, 1));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Counterparts of upstream's tests
//!
#![doc = include_str!("../UPSTREAM_TESTS.md")]

mod controller;
mod desired;
mod events;
mod metrics;
mod plan;

pub use controller::{Config, Informers, mirroring_controller};
pub use desired::{Mirrored, desired};
pub use events::{NotMirrored, not_mirrored};
pub use metrics::MirroringMetrics;
#[cfg(feature = "prometheus")]
pub use metrics::PrometheusMetrics;
pub use plan::{MirrorPlan, NothingToMirror, plan};
