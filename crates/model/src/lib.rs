//! Compact types, indexes and rules for the objects that the endpoint controllers read and write: pure values and
//! functions without client, clock or runtime.
//!
//! What it is for:
//!
//! - **Read-only objects**: [`Pod`], [`Service`] and [`Node`] contain only the fields that the controllers read. A Pod
//!   of 7 kB of JSON takes 320 to 590 bytes of heap in store and index, instead of 21 kB as the full type.
//! - **Lossless objects**: [`EndpointSlice`] and [`Endpoints`] keep every field of Kubernetes 1.36 except
//!   `managedFields`, since they are written back. Fields that a later version adds are dropped, so that an update
//!   removes them.
//! - **Indexes**: [`LabelIndex`] (objects that a selector selects; [`PodIndex`] for Pods), [`SelectorIndex`] (objects
//!   that select another one by its labels; [`ServiceIndex`] for Services) and [`SliceIndex`] (slices of a Service, or of
//!   any owner by a label). The cost of a query grows with its result, not with the namespace.
//! - **Endpoint rules**: [`membership`] (which Pods are endpoints, with which addresses and ports) and [`subsets`] (the
//!   canonical form of Endpoints subsets, upstream's `RepackSubsets`).
//! - **Changes**: [`pod_change`] (which Services to sync after a Pod changed) and [`TriggerTimes`] (the value of the
//!   annotation `endpoints.kubernetes.io/last-change-trigger-time`).
//! - **Types of other authors**: indexes and rules apply to any type that implements [`Labelled`], [`Selecting`] or
//!   [`PodFields`]. [`With`] adds a part of the object to a projection, such as chosen [`Annotations`] of a Pod, in JSON
//!   and protobuf. [`ObjectMeta`] is the metadata for types that [`kube_wire::object!`] implements.
//!
//! ```text
//! JSON, protobuf --decode--+--> Pod, Service, Node ----------> PodIndex, ServiceIndex --> membership, pod_change
//!                          |
//! k8s-openapi --project----+--> EndpointSlice, Endpoints ----> SliceIndex, subsets
//!                                           |
//! JSON, protobuf <-----encode---------------+
//! ```
//!
//! The object types implement [`kube_wire::Decode`] for JSON and protobuf, so they can be listed with
//! `kube-controller-client` and cached with `kube-informer`; [`project`] makes one of an object of `k8s-openapi`. The
//! lossless ones are also encoded to JSON ([`serde::Serialize`]) and protobuf. An object that cannot be decoded is a
//! [`kube_wire::DecodeError`], which names the field.
//!
//! The rules are those of Kubernetes 1.36. Ids such as `RC-14` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).
//!
//! # When not to use it
//!
//! - To write Pods, Services or Nodes, or to read their other fields: use `k8s-openapi`.
//! - Where `managedFields` must be kept, for instance to compute a server-side apply.
//! - For other kinds: use a type of your own, with [`kube_wire::object!`].
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use kube_endpoint_model::{Index as _, Pod, PodIndex, Service, membership};
//!
//! let service: Service = serde_json::from_str(
//!     r#"{"metadata": {"namespace": "shop", "name": "web"},
//!         "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}}"#,
//! )?;
//! let pod: Pod = serde_json::from_str(
//!     r#"{"metadata": {"namespace": "shop", "name": "web-0", "labels": {"app": "web", "tier": "front"}},
//!         "spec": {"containers": [{"ports": [{"name": "http", "containerPort": 8080}]}]},
//!         "status": {"phase": "Running", "podIPs": [{"ip": "10.1.0.1"}]}}"#,
//! )?;
//!
//! let mut pods = PodIndex::default();
//! pods.update(None, Some(&Arc::new(pod)));
//! let selected = pods.select("shop", service.selector.as_ref().unwrap());
//! assert_eq!(membership::find_port(&*selected[0], &service.ports[0]), Ok(8080));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod address;
mod addresses;
mod annotation_size;
mod annotations;
mod by_name;
mod checked_address;
mod cluster;
mod code;
mod compact_time;
mod decode;
mod encode;
mod endpoints;
mod full;
mod go_bool;
mod intern;
mod json;
mod label_index;
mod label_value;
mod labels;
mod last_message;
#[cfg(feature = "informer")]
mod listers;
pub mod membership;
mod metadata;
mod node;
mod pod;
pub mod pod_change;
mod pod_fields;
mod projection;
mod protobuf;
mod protobuf_encode;
mod quantity;
mod reference;
pub mod references;
mod selector_index;
mod service;
mod service_state;
mod slice;
mod slice_index;
pub mod subsets;
mod time;
mod trigger_time;
mod unusable_addresses;
mod upstream_order;
mod warning_event;
pub mod well_known;
mod with;

pub use address::{Address, IpFamily, parse_sloppy};
pub use addresses::Addresses;
pub use annotations::{AnnotationKeys, Annotations};
pub use checked_address::AddressError;
pub use cluster::{Cluster, SelectingService};
pub use code::Code;
pub use compact_time::CompactTime;
pub use endpoints::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
pub use full::project;
pub use go_bool::parse_go_bool;
pub use intern::Interner;
pub use kube_wire::{Index, Metadata, ObjectKey, Resource, ResourceVersion, Text, Uid, Write};
pub use label_index::{LabelIndex, Labelled, PodIndex};
pub use label_value::{LONGEST_LABEL_VALUE, is_label_value};
pub use labels::Labels;
pub use last_message::LastMessage;
#[cfg(feature = "informer")]
pub use listers::Listers;
pub use metadata::{ObjectMeta, OwnerReference};
pub use node::Node;
pub use pod::{NamedPort, Pod};
pub use pod_fields::PodFields;
pub use reference::{ObjectReference, TargetRef, same_target};
pub use selector_index::{Selecting, SelectorIndex, ServiceIndex};
pub use service::{Service, ServicePort, TargetPort, TopologyMode};
pub use service_state::ServiceState;
pub use slice::{AddressType, Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
pub use slice_index::SliceIndex;
pub use trigger_time::{TriggerTime, TriggerTimes};
pub use unusable_addresses::UnusableAddresses;
pub use upstream_order::{sort_slice_ports, sort_subset_ports};
pub use warning_event::WarningEvent;
pub use with::{Part, With};
