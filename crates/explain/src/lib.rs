#![doc = include_str!("../README.md")]

mod changes;
mod check;
mod classes;
mod counts;
mod duplicates;
mod hints;
mod mirror;
mod near_miss;
mod object_report;
mod planned_slices;
mod plans;
mod pod_details;
mod pod_report;
mod report;
mod service_report;
mod slice_findings;
mod terminal;
#[cfg(feature = "text")]
pub mod text;
mod time;
mod traffic;
mod world;
mod written;

pub use classes::DifferenceClass;
pub use counts::thousands;
pub use pod_details::PodDetails;
pub use report::{
    Change, Finding, HintsReport, Kind, LastWrite, NearMiss, ObjectRef, ObjectReport, ObjectState, PodEndpointReport,
    PodOfService, PodReport, PodServicesReport, PodState, Reason, ServiceReport, Severity, WrittenObject,
};
pub use terminal::controls_terminal;
#[cfg(feature = "text")]
pub use text::TextStyle;
pub use world::{Settings, World};
