//! The Endpoints controller of kube-controller-manager: one core/v1 Endpoints object for every Service with a selector.
//!
//! Its name in `--controllers` is `endpoints-controller`. [`plan`] decides, purely, what the object of a Service must
//! look like and whether it must be written; [`endpoints_controller`] joins it to caches, queue and API server.
//!
//! Ids such as `RC-14` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).
//!
//! ```
//! use std::sync::Arc;
//! use kube_endpoint::{Change, Legacy, plan};
//! use kube_endpoint_model::{Pod, Service};
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
//! let Some(Change::Create(endpoints)) = plan(&service, &pods, None, None, Legacy::default()) else { panic!("nothing there yet") };
//! assert_eq!(endpoints.subsets[0].addresses[0].ip.to_string(), "10.1.0.1");
//! assert_eq!(endpoints.subsets[0].ports[0].port, 8080);
//!
//! // What is there already is not written again.
//! assert_eq!(plan(&service, &pods, Some(&endpoints), None, Legacy::default()), None);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Upstream's tests and ours
//!
#![doc = include_str!("../UPSTREAM_TESTS.md")]

mod controller;
mod legacy;
mod plan;
mod truncate;

pub use controller::{Config, Informers, endpoints_controller};
pub use legacy::Legacy;
pub use plan::{Change, plan};
pub use truncate::MAX_ADDRESSES;
