//! The EndpointSlice mirroring controller of kube-controller-manager: Endpoints that someone wrote by hand, for Services
//! without a selector, are mirrored into EndpointSlices, since that is where consumers look.
//!
//! Its name in `--controllers` is `endpointslice-mirroring-controller`. [`desired`] turns an Endpoints object into the
//! endpoints of its slices; [`plan`] asks the generic reconciler of [`kube_endpointslice`] for the writes;
//! [`mirroring_controller`] joins it to caches, queue and API server.
//!
//! Ids such as `RC-14` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).
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
//! # Upstream's tests and ours
//!
#![doc = include_str!("../UPSTREAM_TESTS.md")]

mod controller;
mod desired;
mod events;
mod metrics;
mod plan;

pub use controller::{Config, Informers, mirroring_controller};
pub use desired::{Mirrored, desired};
pub use events::should_mirror;
pub use metrics::MirroringMetrics;
#[cfg(feature = "prometheus")]
pub use metrics::PrometheusMetrics;
pub use plan::{MirrorPlan, plan};
