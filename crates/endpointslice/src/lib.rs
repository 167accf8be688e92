//! The generic EndpointSlice reconciler, and the slice controller of kube-controller-manager built on it.
//!
//! Anything that has endpoints can own slices: a Service, an Endpoints object, a custom resource. The reconciler knows
//! nothing of where endpoints come from. It is asked with the slices there are and the endpoints there should be, and
//! answers with a [`Plan`]: what to create, update and delete. [`plan`] is pure and deterministic; a [`Reconciler`] carries
//! plans out.
//!
//! Ids such as `RC-14` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).
//!
//! ```
//! use std::num::NonZeroUsize;
//! use kube_endpoint_model::{AddressType, Endpoint, EndpointConditions, EndpointPort, ObjectMeta};
//! use kube_endpointslice::{DesiredGroup, Hints, Input, Options, Owner, plan};
//!
//! let metadata = ObjectMeta { namespace: "shop".into(), name: "edge".into(), uid: "2f1c".into(), ..ObjectMeta::default() };
//! let gateway = Owner::new("example.com/v1", "Gateway", &metadata);
//! let endpoint = |address: &str| Endpoint {
//!     addresses: [address].into(),
//!     conditions: EndpointConditions { ready: Some(true), ..Default::default() },
//!     ..Default::default()
//! };
//! let desired = DesiredGroup {
//!     address_type: AddressType::IPv4,
//!     ports: vec![EndpointPort { name: Some("http".into()), port: Some(80), ..Default::default() }],
//!     endpoints: (1..=3).map(|host| endpoint(&format!("10.0.0.{host}"))).collect(),
//! };
//! let options = Options::new("gateways.example.com").max_endpoints_per_slice(NonZeroUsize::new(2).expect("not zero"));
//! let plan = plan(Input::new(&gateway, &[AddressType::IPv4], vec![desired], &[]), Hints::Leave, &options);
//! let sizes: Vec<usize> = plan.types[0].create.iter().map(|slice| slice.endpoints.len()).collect();
//! assert_eq!(sizes, [2, 1]);
//! ```
//!
//! # Cargo features
//!
//! - `apply` (default): carrying plans out against an API server, and [`Reconciler`], which does all of a sync in one call.
//! - `watch`: hearing of changes of slices through an informer.
//! - `controller` (default): the slice controller, [`controller::endpointslice_controller`].
//! - `prometheus`: upstream's [`metrics`] on a registry of the caller's.
//!
//! Without them the crate is pure and pulls in neither tokio nor kube.
//!
//! # The slice controller
//!
//! Upstream matches Pods to Services on a queue of their own, since that costs a walk over all Services of a namespace.
//! Here an index answers at once, so that the events of a Pod put its Services on the one queue directly.
//!
//! # Upstream's tests and ours
//!
#![doc = include_str!("../UPSTREAM_TESTS.md")]

#[cfg(feature = "apply")]
mod altered;
#[cfg(feature = "apply")]
mod apply;
#[cfg(feature = "controller")]
pub mod controller;
mod desired;
mod desired_endpoint;
mod explain;
#[cfg(feature = "defects")]
mod ghosts;
mod groups;
mod identity;
mod input;
#[cfg(feature = "apply")]
mod live;
#[cfg(feature = "apply")]
pub mod metrics;
mod options;
mod owner;
mod packing;
mod plan;
mod pod_endpoint;
#[cfg(feature = "apply")]
mod reconciler;
mod recycle;
mod single;
#[cfg(feature = "apply")]
mod slice_cache;
#[cfg(feature = "apply")]
pub mod slice_events;
mod slice_labels;
#[cfg(feature = "apply")]
mod slice_names;
#[cfg(all(feature = "defects", feature = "watch"))]
mod untracked;
#[cfg(feature = "watch")]
mod watch;

#[cfg(feature = "apply")]
pub use apply::{ApplyError, WriteError, WriteFailure};
pub use desired::{DesiredGroup, MissingNode, ServiceEndpoints, desired_endpoints_from_service_pods};
pub use desired_endpoint::DesiredEndpoint;
pub use explain::{Explanation, Placement, Reason, SliceName, plan_explained};
pub use input::{Hints, Input, ServiceHints, TriggerTime};
#[cfg(feature = "apply")]
pub use live::LiveReadError;
pub use options::{Options, Packing};
pub use owner::Owner;
pub use plan::{GroupCount, Plan, TypePlan, plan};
pub use pod_endpoint::PodEndpoint;
#[cfg(feature = "apply")]
pub use reconciler::{EventSink, Reconciled, Reconciler, ReconcilerBuilder};
#[cfg(feature = "apply")]
pub use slice_cache::{SliceCache, SliceWrite};
pub use slice_labels::SliceLabels;
#[cfg(feature = "watch")]
pub use watch::watch_slices;
