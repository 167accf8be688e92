//! What the endpoint controllers know of a cluster, as pure values and functions: no client, no clock, no runtime.
//!
//! - **Objects**: [`Pod`], [`Service`] and [`Node`] hold exactly what the controllers read, and are never written back.
//!   [`EndpointSlice`] and [`Endpoints`] lose nothing but `managedFields`, because they are. All are read straight from
//!   the wire, the latter also written straight to it, and convert from (the latter also to) the types of `k8s-openapi`.
//! - **Selection**: [`PodIndex`] answers which Pods a Service selects, [`ServiceIndex`] which Services a Pod belongs
//!   to, [`SliceIndex`] which slices a Service has; each answer costs its matches, not the namespace.
//! - **Rules**: [`membership`] says who is an endpoint, where and in which state; [`pod_change`] which changes of a Pod
//!   matter and whom they wake; [`TriggerTimes`] since when consumers have been waiting; [`subsets`] brings Endpoints subsets into their canonical form.
//!
//! The ids in the documentation (PP-4, RC-14 and so on) name upstream behaviour: Kubernetes 1.36.
//!
//! ```
//! use std::sync::Arc;
//! use kube_endpoint_model::{Pod, PodIndex, Service, membership};
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
//! assert_eq!(membership::find_port(&selected[0], &service.ports[0]), Some(8080));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod address;
mod addresses;
mod by_name;
mod decode;
mod endpoints;
mod fingerprint;
mod go_bool;
mod intern;
mod json;
mod labels;
pub mod membership;
mod metadata;
mod node;
mod pod;
pub mod pod_change;
mod pod_index;
mod projection;
mod protobuf;
mod quantity;
mod reference;
mod service;
mod service_index;
mod slice;
mod slice_index;
pub mod subsets;
mod time;
mod trigger_time;
pub mod well_known;
mod written;

pub use address::{Address, IpFamily, parse_sloppy};
pub use addresses::Addresses;
pub use endpoints::{EndpointAddress, EndpointSubset, Endpoints, SubsetPort};
pub use fingerprint::{sort_slice_ports, sort_subset_ports};
pub use go_bool::parse_go_bool;
pub use kube_wire::{ObjectKey, ResourceVersion, Text, Uid};
pub use labels::Labels;
pub use metadata::{ObjectMeta, OwnerReference};
pub use node::Node;
pub use pod::{NamedPort, Pod};
pub use pod_index::PodIndex;
pub use quantity::parse_milli;
pub use reference::{ObjectReference, TargetRef, same_target};
pub use service::{Service, ServicePort, TargetPort, TopologyMode};
pub use service_index::ServiceIndex;
pub use slice::{AddressType, Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
pub use slice_index::SliceIndex;
pub use trigger_time::TriggerTimes;
