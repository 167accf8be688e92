//! The generic EndpointSlice reconciler, and the slice controller of kube-controller-manager built on it.
//!
//! It is the counterpart of `k8s.io/endpointslice` and `pkg/controller/endpointslice` of Kubernetes 1.36. Any
//! namespaced object can own slices: a Service, an Endpoints object, a custom resource. What it is for:
//!
//! - **Planning**: [`plan`] returns the creates, updates and deletes ([`Plan`]) that turn the existing slices of an
//!   owner into its desired endpoints. It is pure and deterministic: equal input in any order gives equal plans.
//! - **Explaining**: [`plan_explained`] also returns the reason why each endpoint is in its slice.
//! - **Endpoints of Pods**: [`desired_endpoints_from_service_pods`] computes the desired endpoints of a Service from
//!   its Pods, [`desired_endpoints_from_pods`] those of Pods that a custom resource selects, both from any projection of
//!   Pods. Endpoints from any other source are passed as [`DesiredGroup`]s.
//! - **Reconciling**: a [`Reconciler`] plans with hints, writes, emits events and reports metrics, in one call.
//! - **The slice controller**: [`controller::endpointslice_controller`] does so for every Service with a selector.
//!
//! ```text
//! Service, Pods, Nodes --> desired_endpoints_from_service_pods --+
//! other sources -------------------------------------------------+--> DesiredGroup
//!                                                                          |
//!                                                                          v
//! SliceCache ---------------- existing slices --------------------------> Input
//!     ^                                                                    |
//!     |                                                                    v
//!     |                                                Hints, Options --> plan --> Plan
//!     |                                                                             |
//!     |   responses                    create, update, delete                       v
//!     +------------- API server <--------------------------------------------- Reconciler
//! ```
//!
//! [`Reconciler::reconcile`] takes an [`Input`] and does the rest of the diagram: it calls [`plan`], sends the writes,
//! and stores the responses. A program that sends the writes itself calls only [`plan`].
//!
//! # When not to use it
//!
//! - To write Endpoints objects: use `kube-endpoint`. To mirror them into slices: use `kube-endpointslice-mirroring`.
//! - To change slices that another controller manages: only slices with the managed-by label of [`Options::controller`]
//!   are written, and two controllers with the same label undo each other's writes.
//! - In several processes at once without leader election: see `kube-lease-election`.
//!
//! # Prerequisites
//!
//! - The program selects a version feature of `k8s-openapi` 0.29, such as `v1_36`; without one, `k8s-openapi` does not
//!   compile.
//! - The API server serves `discovery.k8s.io/v1` (Kubernetes 1.21 or newer). The rules are those of 1.36, whatever the
//!   server's version.
//!
//! # Example
//!
//! Three endpoints of a custom resource in slices of at most two, without I/O. For controllers, see the
//! [examples](https://github.com/kube-endpoints/kube-endpoints/tree/main/crates/endpointslice/examples) and [Writing a
//! controller](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/writing-a-controller.md).
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
//! let sizes: Vec<usize> = plan.types[0].creates().map(|slice| slice.endpoints.len()).collect();
//! assert_eq!(sizes, [2, 1]);
//! // The label by which the slices are found. They belong to no Service.
//! let labels = &plan.types[0].creates().next().expect("a create").metadata.labels;
//! assert_eq!(labels.get("gateways.example.com/owner"), Some("edge"));
//! assert_eq!(labels.get("kubernetes.io/service-name"), None);
//! ```
//!
//! # Endpoints
//!
//! | the endpoints are | constructor |
//! |---|---|
//! | Pods that a Service selects | [`desired_endpoints_from_service_pods`] |
//! | Pods that a custom resource selects | [`desired_endpoints_from_pods`] |
//! | Pods at other addresses than those of their status | [`endpoint_at`] for each Pod without [`membership::exclusion`](kube_endpoint_model::membership::exclusion), in a [`DesiredGroup`] |
//! | anything else | the fields of [`Endpoint`](kube_endpoint_model::Endpoint), in a [`DesiredGroup`] |
//!
//! The first two group the endpoints by address type and ports, and leave Pods without an address of a family out. For the
//! others the caller makes one group for each address type and set of ports, with addresses of that type only:
//! planning does not compare them, and the API server rejects a slice with others.
//! [`Addresses`](kube_endpoint_model::Addresses) has the constructors of address lists and what they keep, and
//! [`Address::checked`](kube_endpoint_model::Address::checked) rejects what the API server would reject.
//!
//! # Labels
//!
//! kube-proxy and other consumers find the slices of a Service by the label `kubernetes.io/service-name`, whatever their
//! owner is. [`Options::for_services`] and [`SliceLabels::for_service`] set it. [`Options::new`] is for slices that belong
//! to no Service: they are found by another label, [`Options::owner_label`]. [Who reads
//! EndpointSlices](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/slice-consumers.md) lists the labels
//! that consumers read.
//!
//! # Errors
//!
//! Planning cannot fail. [`Reconciler::reconcile`] returns an [`ApplyError`] with each failed write; the first failure
//! ends the writes of its address type. The caller retries the sync with back-off, from the current slices.
//!
//! # Cargo features
//!
//! - `apply` (default): [`Reconciler`], which plans and writes in one call, and [`watch_slices`], a handler of the events
//!   of slices.
//! - `controller` (default): the slice controller, [`controller::endpointslice_controller`].
//! - `prometheus`: upstream's [`metrics`] in a registry of the `prometheus` crate.
//!
//! Each feature includes `apply`.
//!
//! Without these features the crate is pure and depends on neither tokio nor kube.
//!
//! # Deliberate differences from upstream
//!
//! The [README](https://github.com/kube-endpoints/kube-endpoints/blob/main/crates/endpointslice/README.md) of this
//! crate lists them. Ids such as `RC-14` in these pages name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md). The difference that
//! shapes the code: upstream matches Pods to Services in a work queue of its own, because that takes a search through
//! all Services of a namespace. Here the Services of a Pod come from an index, so the handler of Pods adds them to the
//! only queue directly.
//!
//! # Counterparts of upstream's tests
//!
#![doc = include_str!("../UPSTREAM_TESTS.md")]

#[cfg(feature = "apply")]
mod altered;
#[cfg(feature = "apply")]
mod apply;
mod builder;
#[cfg(feature = "controller")]
pub mod controller;
mod desired;
mod desired_endpoint;
mod desired_group;
mod desired_set;
mod explain;
mod groups;
mod identity;
mod input;
mod kept;
#[cfg(feature = "apply")]
mod live;
#[cfg(feature = "apply")]
pub mod metrics;
mod options;
mod owner;
#[cfg(feature = "apply")]
mod owner_state;
mod packing;
mod plan;
mod pod_endpoint;
#[cfg(feature = "apply")]
mod priority;
#[cfg(feature = "apply")]
mod reconciler;
mod recycle;
mod service_plan;
mod single;
#[cfg(feature = "apply")]
pub mod slice_events;
mod slice_labels;
#[cfg(feature = "apply")]
mod slice_names;
#[cfg(feature = "apply")]
mod slice_rules;
mod stored_zones;
#[cfg(feature = "apply")]
mod watch;
mod withheld;

#[cfg(feature = "apply")]
pub use apply::{ApplyError, WriteError, WriteFailure};
pub use desired::{
    MAX_PORTS, MissingNode, PodDecision, ServiceEndpoints, desired_endpoints_explained, desired_endpoints_from_pods,
    desired_endpoints_from_service_pods,
};
pub use desired_endpoint::DesiredEndpoint;
pub use desired_group::DesiredGroup;
pub use explain::{Explanation, Placement, PlacementReason, SliceName, plan_explained};
pub use input::{Hints, Input, ServiceHints, hinted_types};
pub use kept::Kept;
pub use kube_endpoint_model::TriggerTime;
#[cfg(feature = "apply")]
pub use live::LiveReadError;
pub use options::{Options, Packing};
pub use owner::Owner;
pub use plan::{GroupCount, Plan, TypePlan, plan};
pub use pod_endpoint::{PodEndpoint, endpoint_at};
#[cfg(feature = "apply")]
pub use reconciler::{EventSink, Reconciled, Reconciler, ReconcilerBuilder};
pub use service_plan::{HintState, OwnerPlan, ServicePlan, service_plan};
pub use slice_labels::SliceLabels;
#[cfg(feature = "apply")]
pub use watch::watch_slices;
