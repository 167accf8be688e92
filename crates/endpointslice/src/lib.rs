//! The generic EndpointSlice reconciler, and the slice controller of kube-controller-manager built on it.
//!
//! Anything that has endpoints can own slices: a Service, an Endpoints object, a custom resource. The reconciler knows
//! nothing of where endpoints come from. It is asked with the slices there are and the endpoints there should be, and
//! answers with a [`Plan`]: what to create, update and delete. [`plan`] is pure and deterministic; [`apply`] carries a
//! plan out.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use kube_endpoint_model::{AddressType, Endpoint, EndpointConditions, EndpointPort, Labels};
//! use kube_endpointslice::{DesiredGroup, Hints, Input, Options, Owner, Packing, SliceLabels, TriggerTime, plan};
//!
//! let owner = Owner {
//!     api_version: "example.com/v1".into(),
//!     kind: "Gateway".into(),
//!     namespace: "shop".into(),
//!     name: "edge".into(),
//!     uid: "2f1c".into(),
//! };
//! let endpoint = |address: &str| Endpoint {
//!     addresses: vec![kube_endpoint_model::Address::new(address)],
//!     conditions: EndpointConditions { ready: Some(true), ..Default::default() },
//!     ..Default::default()
//! };
//! let desired = DesiredGroup {
//!     address_type: AddressType::IPv4,
//!     ports: vec![EndpointPort { name: Some("http".into()), port: Some(80), ..Default::default() }],
//!     endpoints: (1..=3).map(|host| endpoint(&format!("10.0.0.{host}"))).collect(),
//! };
//! let options = Options {
//!     max_endpoints_per_slice: NonZeroUsize::new(2).expect("not zero"),
//!     placeholder: false,
//!     packing: Packing::Incremental,
//! };
//! let plan = plan(
//!     Input {
//!         owner: &owner,
//!         owner_terminating: false,
//!         address_types: &[AddressType::IPv4],
//!         desired: vec![desired],
//!         existing: &[],
//!         labels: &SliceLabels::carry(&Labels::default(), "edge", "gateways.example.com"),
//!         annotations: &Labels::default(),
//!         trigger_time: TriggerTime::Leave,
//!         hints: Hints::Leave,
//!     },
//!     &options,
//! );
//! let sizes: Vec<usize> = plan.types[0].create.iter().map(|slice| slice.endpoints.len()).collect();
//! assert_eq!(sizes, [2, 1]);
//! ```
//!
//! # Cargo features
//!
//! - `apply` (default): carrying plans out against an API server.
//! - `controller` (default): the slice controller, [`controller::EndpointSliceController`].
//!
//! Without them the crate is pure and pulls in neither tokio nor kube.
//!
//! # The slice controller
//!
//! Upstream matches Pods to Services on a queue of their own, since that costs a walk over all Services of a namespace.
//! Here an index answers at once, so that the events of a Pod put its Services on the one queue directly.

#[cfg(feature = "apply")]
mod apply;
#[cfg(feature = "controller")]
pub mod controller;
mod desired;
#[cfg(feature = "apply")]
mod fresh;
mod owner;
mod packing;
mod plan;
mod recycle;
#[cfg(feature = "apply")]
pub mod slice_events;
mod slice_labels;
#[cfg(feature = "apply")]
mod tracker;
#[cfg(feature = "watch")]
mod watch;

#[cfg(feature = "apply")]
pub use apply::{ApplyError, WriteError, apply};
pub use desired::{DesiredGroup, MissingNode, ServiceEndpoints, desired_endpoints_from_service_pods};
#[cfg(feature = "apply")]
pub use fresh::{LiveReadError, Slices, fresh_slices};
pub use owner::Owner;
pub use plan::{Hints, Input, Options, Packing, Plan, ServiceHints, TriggerTime, TypePlan, plan};
pub use slice_labels::SliceLabels;
#[cfg(feature = "apply")]
pub use tracker::{SliceTracker, Writing};
#[cfg(feature = "watch")]
pub use watch::watch_slices;
