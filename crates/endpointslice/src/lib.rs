#![doc = include_str!("../README.md")]

#[cfg(feature = "apply")]
mod altered;
#[cfg(feature = "apply")]
mod apply;
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
pub use explain::{Explanation, Placement, SliceName};
pub use input::{Hints, Input, ServiceHints, hinted_types};
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
