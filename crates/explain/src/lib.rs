//! Explains which Pods are endpoints of a Service, which are not, and why.
//!
//! The answers come from the functions by which the controllers decide (membership, readiness, ports, address families,
//! Nodes, hints, packing and mirroring), not from a second implementation of their rules. Each reason has a stable
//! [code](kube_endpoint_model::Code) and its facts in a sentence. What the crate is for:
//!
//! - **Services**: [`World::service`] reports every selected Pod with the first reason why it does not serve, Pods that
//!   the selector almost matches, expected and actual slices, hints, and duplicate addresses.
//! - **Pods, slices, Endpoints**: [`World::pod`], [`World::slice`] and [`World::endpoints`] answer from the other side.
//! - **Checks**: [`World::check`] returns the findings about all objects, for monitoring and CI.
//! - **Previews**: [`World::changes`] returns the writes that the three controllers would send now, with reasons.
//! - **Output**: reports serialize for machines; [`text`] formats them for people.
//!
//! ```text
//! Services, Pods, Nodes, slices, Endpoints --+
//! Pod details, last writes ------------------+--> World --> reports, findings, changes --> text, JSON
//! kinds that may not be read ----------------+
//! ```
//!
//! The plugin `kubectl endpoints` of the crate `kubectl-endpoints` fetches the objects from a cluster.
//!
//! # When not to use it
//!
//! - To watch a cluster: a [`World`] is a snapshot. Build a new one after a change.
//! - For Services of load balancers and meshes: it explains endpoints, not whether traffic reaches them.
//! - For clusters whose controllers have other rules, such as legacy feature gates of the Endpoints controller: the rules
//!   are those of Kubernetes 1.36 with default flags, apart from [`Settings`].
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use kube_endpoint_model::{Code, ObjectKey, Pod, Service};
//! use kube_endpoints_explain::{PodState, Settings, World};
//!
//! let service: Service = serde_json::from_str(
//!     r#"{"metadata": {"namespace": "shop", "name": "web"},
//!         "spec": {"selector": {"app": "web"}, "ipFamilies": ["IPv4"],
//!                  "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}}"#,
//! )?;
//! let pod: Pod = serde_json::from_str(
//!     r#"{"metadata": {"namespace": "shop", "name": "web-0", "labels": {"app": "web"}},
//!         "spec": {"nodeName": "node-1"},
//!         "status": {"phase": "Running", "podIPs": [{"ip": "10.1.0.1"}]}}"#,
//! )?;
//! let mut world = World::new(Settings::default());
//! world.add_services([Arc::new(service)]);
//! world.add_pods([Arc::new(pod)]);
//!
//! let report = world.service(&ObjectKey::new("shop", "web")).expect("the Service is in the world");
//! assert_eq!(report.pods[0].state, PodState::LeftOut);
//! assert_eq!(report.pods[0].reasons[0].code, Code::NodeMissing);
//! assert_eq!(report.pods[0].reasons[0].message, "Node node-1 does not exist");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! The program selects a version feature of `k8s-openapi` 0.29, such as `v1_36`; without one, `k8s-openapi` does not
//! compile. No function returns an error, and none does I/O or reads a clock.

mod changes;
mod check;
mod classes;
mod duplicates;
mod hints;
mod last_write;
mod mirror;
mod near_miss;
mod object_report;
mod plans;
mod pod_details;
mod pod_report;
mod report;
mod service_report;
mod severity;
mod slice_findings;
pub mod text;
mod time;
mod traffic;
mod world;
mod written;

pub use classes::{Difference, DifferenceClass, classify};
pub use pod_details::PodDetails;
pub use report::{
    Change, Finding, HintsReport, Kind, LastWrite, NearMiss, ObjectRef, ObjectReport, ObjectState, PodEndpointReport,
    PodOfService, PodReport, PodServicesReport, PodState, Reason, ServiceReport, Severity, WrittenObject,
};
pub use text::TextStyle;
pub use world::{Settings, World};
