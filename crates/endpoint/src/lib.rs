//! The Endpoints controller of kube-controller-manager: writes one core/v1 Endpoints object for each Service with a
//! selector, as Kubernetes 1.36 does.
//!
//! What it is for:
//!
//! - **The controller**: [`endpoints_controller`] implements upstream's `endpoints-controller`, for clients
//!   that do not read EndpointSlices.
//! - **The decision alone**: [`plan`] computes the object of a Service, and whether it has to be created or updated,
//!   without client, clock or runtime.
//! - **The size limit**: an object has at most [`MAX_ADDRESSES`] addresses, ready ones first.
//! - **Earlier rules**: [`Legacy`] restores three rules of earlier Kubernetes versions, for manifests that depend on
//!   them.
//! - **No redundant writes**: an object that would change only in its annotation
//!   `endpoints.kubernetes.io/last-change-trigger-time` is not written.
//!
//! ```text
//! Service, Pod and Endpoints events --> queue of Services --> sync of one Service
//!                                                               |
//! caches of Services, Pods, Endpoints --------read------------> plan --> create, update or delete --> API server
//!                           ^                                                     |
//!                           +--------------- response to the write ---------------+
//! ```
//!
//! Ids such as `EP-7` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md): the behaviour of
//! Kubernetes 1.36, and each deliberate difference.
//!
//! # Use
//!
//! To run the controller in a program of your own:
//!
//! 1. Build the informers: of Services with a `ServiceIndex`, of Pods with a `PodIndex`, and of Endpoints without an
//!    index.
//! 2. Pass them to [`endpoints_controller`], with a client and an `EventRecorder` of `kube-controller-client`.
//! 3. Run the informers, the `EventWriter` and `Controller::run`, for example as tasks of a
//!    `kube_controller::Supervisor`. Workers start once all caches are synced.
//!    With leader election, also pass the `Informer::catch_up` futures of all informers, joined into one, to
//!    `Controller::wait_for`: the caches of a standby may lack the last writes of the previous leader.
//! 4. Enable a version feature of `k8s-openapi`, such as `v1_36`; the libraries select none. For `plan` alone, this
//!    step is enough.
//!
//! The program `controller-manager` does this in [`caches.rs`] and [`manager.rs`]; [`cluster-role.yaml`] lists the
//! permissions of all three controllers. With several replicas, gate the client with the `Fence` of
//! `kube-lease-election`.
//!
//! A sync whose write fails is retried 15 times, after 5 ms doubling to 82 s, and then every 1,000 s. A failed
//! create or update is also reported in a Warning event.
//!
//! [`caches.rs`]: https://github.com/kube-endpoints/kube-endpoints/blob/main/crates/controller-manager/src/caches.rs
//! [`manager.rs`]: https://github.com/kube-endpoints/kube-endpoints/blob/main/crates/controller-manager/src/manager.rs
//! [`cluster-role.yaml`]: https://github.com/kube-endpoints/kube-endpoints/blob/main/deploy/kustomize/base/cluster-role.yaml
//!
//! # When not to use it
//!
//! - Where no client reads Endpoints any more: the API is deprecated since Kubernetes 1.33. Disable the controller with
//!   `--controllers=*,-endpoints-controller`.
//! - For EndpointSlices: use `kube-endpointslice`. For slices of Endpoints that a user wrote:
//!   `kube-endpointslice-mirroring`.
//! - Together with upstream's Endpoints controller: both write the same objects and conflict.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use kube_endpoint::{Legacy, planned_write};
//! use kube_endpoint_model::{Pod, Service, Write};
//!
//! let service: Service = serde_json::from_str(
//!     r#"{"metadata": {"namespace": "shop", "name": "web"},
//!         "spec": {"selector": {"app": "web"}, "clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"],
//!                  "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}}"#,
//! )?;
//! let pod: Pod = serde_json::from_str(
//!     r#"{"metadata": {"namespace": "shop", "name": "web-0", "labels": {"app": "web"}},
//!         "status": {"phase": "Running", "podIPs": [{"ip": "10.1.0.1"}],
//!                    "conditions": [{"type": "Ready", "status": "True"}]}}"#,
//! )?;
//! let pods = [Arc::new(pod)];
//!
//! let write = planned_write(&service, &pods, None, None, Legacy::default());
//! let Some(Write::Create(endpoints)) = write else { panic!("no object exists yet") };
//! assert_eq!(endpoints.subsets[0].addresses[0].ip.to_string(), "10.1.0.1");
//! assert_eq!(endpoints.subsets[0].ports[0].port, 8080);
//!
//! // The object is up to date: nothing to write.
//! assert_eq!(planned_write(&service, &pods, Some(&Arc::new(endpoints)), None, Legacy::default()), None);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Counterparts of upstream's tests
//!
#![doc = include_str!("../UPSTREAM_TESTS.md")]

mod controller;
mod desired;
mod kept;
mod legacy;
mod plan;
mod priority;
mod truncate;

pub use controller::{Config, Informers, endpoints_controller};
pub use desired::planned_write;
pub use legacy::Legacy;
pub use plan::{Plan, plan};
pub use truncate::MAX_ADDRESSES;
